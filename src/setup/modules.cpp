// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "base/contains.h"
#include "base/find.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

constexpr const char* kModulesFile = "/etc/modules-load.d/railhead.conf";

/// Whether it is loaded at each boot without us. rdma-core loads what its files name for hardware
/// of their kind only (rdma-load-modules@.service).
bool others_load(const Situation& situation, const std::string& name) {
  const auto& all = situation.system.boot_modules;
  return std::ranges::any_of(all, [&](const system::BootModule& one) {
    return one.name == name && one.path != kModulesFile &&
           !one.path.starts_with("/etc/rdma/modules/");
  });
}

bool is_loaded(host::Host& host, const std::string& name) {
  return has_folder(host, "/sys/module/" + name);
}

/// For a tree whose /sys was not copied.
bool in_proc_modules(host::Host& host, const std::string& name) {
  const std::string text = text_of(host, "/proc/modules");
  return std::ranges::any_of(split(text, '\n'),
                             [&](std::string_view line) { return line.starts_with(name + " "); });
}

/// Where NVIDIA's packages put the source of the module, for dkms. "": nowhere.
std::string source_of_peermem(host::Host& host) {
  for (const auto& name : names_in(host, "/usr/src", "")) {
    if (!name.starts_with("nvidia-")) continue;
    std::string folder = "/usr/src/" + name + "/nvidia-peermem";
    if (has_folder(host, folder)) return folder;
  }
  return "";
}

std::string without_module(host::Host& host, const ModuleIndex& modules, const std::string& name) {
  if (modules.release().empty()) return "the release of the kernel cannot be read";
  const std::string folder = "/lib/modules/" + modules.release();
  if (!has_folder(host, folder)) return folder + " is not there: nobody can say what it has";
  std::string missing = "kernel " + modules.release() + " has no module " + name;
  if (name != "nvidia_peermem") return missing;
  const auto source = source_of_peermem(host);
  const bool has_headers = has_folder(host, "/lib/modules/" + modules.release() + "/build");
  if (!source.empty() && has_headers)
    return missing + ": it can be built of " + source + " (dkms autoinstall)";
  if (!source.empty()) {
    return missing + ": its source is in " + source +
           ", and the headers of this kernel are missing";
  }
  return missing +
         ": NVIDIA's driver brings it, on the host or in the GPU operator's driver "
         "container, which loads it where driver.rdma.enabled is true";
}

/// Changes that load a module with what it needs, and what modprobe(8) loads with it, in that
/// program's order. Each is one of its own, so that it is in the journal, and is unloaded again.
class Loads {
 public:
  explicit Loads(const Situation& situation)
      : situation_(situation) {}

  std::vector<Change> of(const std::string& name) {
    const auto& needs = situation_.modules.find(name)->needs;
    needed_ = {needs.begin(), needs.end()};
    needed_.insert(name);
    add(name);
    return changes_;
  }

 private:
  void add(const std::string& name) {
    host::Host& host = *situation_.machine.host;
    const auto& index = situation_.modules;
    const auto* module = index.find(name);
    if (module == nullptr || is_loaded(host, name) || !seen_.insert(name).second) return;
    const auto own = index.soft_dependencies(name);
    const auto more = module_options(host, name).soft;
    for (const auto* soft : {&own.before, &more.before}) add_each(*soft);
    add_each(module->needs);
    changes_.push_back({Change::Kind::module, name, "", needed_.count(name) == 0});
    for (const auto* soft : {&own.after, &more.after}) add_each(*soft);
  }

  void add_each(const std::vector<std::string>& names) {
    for (const auto& name : names) add(situation_.modules.resolve(name));
  }

  const Situation& situation_;
  std::set<std::string> needed_;  ///< without these the kernel refuses it
  std::set<std::string> seen_;
  std::vector<Change> changes_;
};

bool has_modprobe(host::Tree& tree) {
  constexpr const char* kPlaces[] = {"/usr/sbin/modprobe", "/sbin/modprobe", "/usr/bin/modprobe"};
  return std::ranges::any_of(kPlaces, [&](const char* place) {
    const auto file = tree.open_file(place);
    return file && *file;
  });
}

/// Why setup does not load a module that the kernel has. "": it does.
std::string against_loading(const Situation& situation, const std::string& name) {
  const auto& machine = situation.machine;
  if (!machine.is_live) return "no kernel runs in this tree: the next boot loads it";
  const auto install = module_options(*machine.host, name).install;
  if (!install.empty())
    return install + " has a command for it in place of the kernel: run modprobe " +
           shell_word(name);
  const auto packed = against_unpacking(*machine.host, situation.modules.find(name)->path);
  if (packed.empty() || has_modprobe(*machine.tree)) return "";
  return packed + ", and there is no modprobe here: run modprobe " + shell_word(name) +
         " on the machine";
}

/// `wish`: the module's name, or an alias of it.
Step loaded(const Situation& situation, const std::string& wish) {
  const std::string name = situation.modules.resolve(wish);
  Step step{.id = "modules.loaded/" + name,
            .title = "module " + name + (name == wish ? "" : " (" + wish + ")") + " is loaded",
            .before = "not loaded",
            .after = "loaded"};
  host::Host& host = *situation.machine.host;
  if (situation.modules.is_built_in(name)) {
    step.before = "part of the kernel";
    step.reason = "kernel " + situation.modules.release() + " has it built in";
  } else if (is_loaded(host, name)) {
    step.before = "loaded";
    step.reason = "/sys/module/" + name;
    if (name == "nvidia_peermem" && has_gpu_operator_driver(situation))
      step.reason += ", by the GPU operator's driver container";
  } else if (in_proc_modules(host, name)) {
    step.before = "loaded";
    step.reason = "/proc/modules";
  } else if (name == "nvidia_peermem" && has_gpu_operator_driver(situation)) {
    return parked(std::move(step),
                  "the GPU operator's driver container loads it, where driver.rdma.enabled is "
                  "true: setup leaves it alone");
  } else if (situation.modules.find(name) == nullptr) {
    return parked(std::move(step), without_module(host, situation.modules, name));
  } else {
    std::string against = against_loading(situation, name);
    if (!against.empty()) return parked(std::move(step), std::move(against));
    step.state = StepState::todo;
    step.changes = Loads(situation).of(name);
  }
  return step;
}

/// Who loads what is wanted when the machine starts. What the kernel lacks is nobody's: its name
/// would make systemd-modules-load.service fail at each boot.
struct AtBoot {
  std::vector<std::string> ours;
  std::vector<std::string> others;  ///< another file names it, or the kernel has it built in
  /// Modules that modprobe.d blacklists, and the file. systemd-modules-load.service passes them
  /// over (kmod, KMOD_PROBE_APPLY_BLACKLIST); modprobe(8) does not.
  std::map<std::string, std::string> forbidden;
};

AtBoot at_boot(const Situation& situation) {
  AtBoot found;
  for (const auto& wish : situation.wanted.modules) {
    const std::string name = situation.modules.resolve(wish);
    if (name == "nvidia_peermem" && has_gpu_operator_driver(situation)) continue;
    if (situation.modules.is_built_in(name)) found.others.push_back(name);
    if (situation.modules.find(name) == nullptr) continue;
    const auto blacklist = module_options(*situation.machine.host, name).blacklist;
    if (!blacklist.empty()) {
      found.forbidden[name] = blacklist;
      continue;
    }
    auto& list = others_load(situation, name) ? found.others : found.ours;
    if (!contains(list, name)) list.push_back(name);
  }
  return found;
}

}  // namespace

void plan_modules(const Situation& situation, Plan& plan) {
  if (situation.wanted.modules.empty()) return;
  for (const auto& name : situation.wanted.modules) {
    auto step = loaded(situation, name);
    // By its name and by an alias it is one module.
    if (find_by(plan, &Step::id, step.id) == nullptr) plan.push_back(std::move(step));
  }
  const auto boot = at_boot(situation);
  for (const auto& [name, file] : boot.forbidden) {
    Step step{.id = "modules.blacklist/" + name,
              .title = "module " + name + " may be loaded at boot"};
    plan.push_back(parked(std::move(step), file + " blacklists it: take the line away, or load it "
                                                  "after each boot"));
  }
  // Of what is not there nothing can be said.
  if (boot.ours.empty() && boot.others.empty()) return;
  Step step{.id = "modules.at-boot", .title = "modules are loaded at boot"};
  if (boot.ours.empty()) {
    step.reason = "without us: " + join(boot.others, ", ");
    plan.push_back(std::move(step));
    return;
  }
  step.after = join(boot.ours, ", ") + " in " + kModulesFile;
  plan.push_back(files_step(situation, std::move(step), {modules_file(boot.ours)}));
}

}  // namespace railhead::setup
