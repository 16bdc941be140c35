// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

constexpr const char* kModulesFile = "/etc/modules-load.d/railhead.conf";

/// Whether it is loaded at each boot without us. rdma-core loads what its files name for hardware
/// of their kind only (rdma-load-modules@.service).
bool others_load(const Situation& situation, const std::string& name) {
  const auto& all = situation.system.boot_modules;
  return std::any_of(all.begin(), all.end(), [&](const system::BootModule& one) {
    return one.name == name && one.path != kModulesFile &&
           !one.path.starts_with("/etc/rdma/modules/");
  });
}

bool is_loaded(host::Host& host, const std::string& name) {
  const auto folder = host.list("/sys/module/" + name);
  return folder && *folder;
}

/// Where NVIDIA's packages put the source of the module, for dkms. "": nowhere.
std::string source_of_peermem(host::Host& host) {
  for (const auto& name : names_in(host, "/usr/src", "")) {
    if (!name.starts_with("nvidia-")) continue;
    std::string folder = "/usr/src/" + name + "/nvidia-peermem";
    const auto files = host.list(folder);
    if (files && *files) return folder;
  }
  return "";
}

std::string without_module(host::Host& host, const ModuleIndex& modules, const std::string& name) {
  if (modules.release().empty()) return "the release of the kernel cannot be read";
  std::string missing = "kernel " + modules.release() + " has no module " + name;
  if (name != "nvidia_peermem") return missing;
  const auto source = source_of_peermem(host);
  const auto headers = host.list("/lib/modules/" + modules.release() + "/build");
  if (!source.empty() && headers && *headers)
    return missing + ": it can be built of " + source + " (dkms autoinstall)";
  if (!source.empty()) {
    return missing + ": its source is in " + source +
           ", and the headers of this kernel are missing";
  }
  return missing +
         ": NVIDIA's driver brings it, on the host or in the GPU operator's driver "
         "container, which loads it where driver.rdma.enabled is true";
}

Step loaded(const Situation& situation, const std::string& name) {
  Step step;
  step.id = "modules.loaded/" + name;
  step.title = "module " + name + " is loaded";
  step.before = "not loaded";
  step.after = "loaded";
  host::Host& host = *situation.machine.host;
  if (situation.modules.is_built_in(name)) {
    step.before = "part of the kernel";
    step.reason = "kernel " + situation.modules.release() + " has it built in";
  } else if (is_loaded(host, name)) {
    step.before = "loaded";
    step.reason = "/sys/module/" + name;
  } else if (name == "nvidia_peermem" && has_gpu_operator_driver(situation)) {
    step.state = StepState::parked;
    step.reason =
        "the GPU operator's driver container loads it, where driver.rdma.enabled is true: setup "
        "leaves it alone";
  } else if (situation.modules.find(name) == nullptr) {
    step.state = StepState::parked;
    step.reason = without_module(host, situation.modules, name);
  } else if (!situation.machine.is_live) {
    step.state = StepState::parked;
    step.reason = "no kernel runs in this tree: the next boot loads it";
  } else {
    step.state = StepState::todo;
    // One after the other, so that each is in the journal, and is unloaded again.
    for (const auto& need : situation.modules.find(name)->needs) {
      if (!is_loaded(host, need)) step.changes.push_back({Change::Kind::module, need, ""});
    }
    step.changes.push_back({Change::Kind::module, name, ""});
  }
  return step;
}

/// What the kernel has as a module and nobody else loads. A name that it does not have would make
/// systemd-modules-load.service fail at each boot.
std::vector<std::string> ours_at_boot(const Situation& situation) {
  std::vector<std::string> names;
  for (const auto& name : situation.wanted.modules) {
    if (name == "nvidia_peermem" && has_gpu_operator_driver(situation)) continue;
    if (situation.modules.find(name) != nullptr && !others_load(situation, name))
      names.push_back(name);
  }
  return names;
}

}  // namespace

void plan_modules(const Situation& situation, Plan& plan) {
  if (situation.wanted.modules.empty()) return;
  for (const auto& name : situation.wanted.modules) plan.push_back(loaded(situation, name));
  const auto names = ours_at_boot(situation);
  Step step;
  step.id = "modules.at-boot";
  step.title = "modules are loaded at boot";
  if (names.empty()) {
    step.reason = "nothing that is not loaded at boot already";
    plan.push_back(std::move(step));
    return;
  }
  step.after = join(names, ", ") + " in " + kModulesFile;
  plan.push_back(files_step(situation, std::move(step), {modules_file(names)}));
}

}  // namespace railhead::setup
