// SPDX-License-Identifier: Apache-2.0
//
// What is in the files and what would be is judged by system/runtime_answer.h alone. Here are the
// edits that may be made, the least first: the first is taken with which every release that a
// machine with these files may have starts, has NRI on, and reads all else as before.
#include <algorithm>
#include <map>
#include <utility>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "data/below.h"
#include "data/toml.h"
#include "setup/plan.h"
#include "system/file_owner.h"

namespace railhead::setup {
namespace {

using system::Known;

constexpr const char* kDropIn = "50-railhead-nri.toml";

/// The path of what a path names, each link followed.
std::string without_links(host::Host& host, std::string path) {
  constexpr std::size_t kMostLinks = 40;  // as Linux has it (path_resolution(7))
  std::size_t links = 0;
  for (std::size_t end = path.find('/', 1); links < kMostLinks; end = path.find('/', end + 1)) {
    const auto target = host.readlink(path.substr(0, end));
    if (target && *target) {
      path = host::join_link(path.substr(0, end), **target) +
             (end == std::string::npos ? "" : path.substr(end));
      end = 0;
      ++links;
    } else if (end == std::string::npos) {
      break;
    }
  }
  return path;
}

/// What files would be, by their path.
using Edits = std::map<std::string, FileText>;

/// Sets flags of NRI to false in what a file would be.
Status set_false(const system::ConfigFile& file, const std::vector<data::TomlPath>& flags,
                 Edits& edits) {
  for (const auto& flag : flags) {
    auto& edit =
        edits.try_emplace(file.path, FileText{file.path, file.text, file.text}).first->second;
    auto text = data::set_toml_boolean(edit.text, flag, false);
    if (!text) return text.error().context(file.path);
    edit.text = *std::move(text);
  }
  return {};
}

system::ChangedFiles changed(const Edits& edits) {
  system::ChangedFiles files;
  for (const auto& [path, edit] : edits) files.emplace(path, edit.text);
  return files;
}

/// The files say that NRI is on, for this reason: done by that and by the socket, where a process
/// that should have made it is seen.
Step enabled(const Situation& situation, Step step, std::string reason) {
  step.before = step.after = "enabled";
  step.reason = std::move(reason);
  const auto missing = missing_nri_socket(situation);
  return missing.empty() ? step : parked(std::move(step), "in its files, and " + missing);
}

class ContainerdNri {
 public:
  ContainerdNri(const Situation& situation, const system::ContainerdFiles& config)
      : situation_(situation),
        config_(config),
        before_(system::judge_containerd(config)) {
    for (const auto release : system::possible_releases(config))
      readings_.emplace_back(release, system::read_as(config, release));
  }

  [[nodiscard]] Step make() const {
    Step step{.id = "nri.enabled", .title = "containerd takes NRI plugins", .before = "disabled"};
    if (before_.starts == Known::no)
      return refused(std::move(step), "containerd does not start with its files: " + before_.why());
    if (before_.starts == Known::unknown)
      return parked(std::move(step),
                    "whether containerd starts with its files is not known: " + before_.why());
    const auto socket = situation_.system.nri_socket();
    if (before_.nri == Known::yes) return enabled(situation_, std::move(step), before_.why());
    if (before_.nri == Known::unknown && socket)
      return enabled(situation_, std::move(step), *socket + " is there");
    return edited(std::move(step));
  }

 private:
  [[nodiscard]] Step edited(Step step) const {
    std::string why;
    for (const auto& [edits, failure] : candidates()) {
      if (edits.empty() && failure.empty()) continue;
      std::string wrong = failure.empty() ? wrong_with(edits) : failure;
      if (wrong.empty()) {
        std::vector<FileText> files;
        for (const auto& [path, edit] : edits) {
          step.after += (step.after.empty() ? "disable = false in " : ", ") + path;
          files.push_back(edit);
        }
        return files_step(situation_, std::move(step), files);
      }
      if (why.empty()) why = std::move(wrong);
    }
    return refused(std::move(step), why.empty() ? before_.why() : why);
  }

  /// Why these edits are not made. "": they are right.
  [[nodiscard]] std::string wrong_with(const Edits& edits) const {
    for (const auto& [path, edit] : edits) {
      std::string writer = writer_of(path, edit);
      if (!writer.empty()) return writer;
    }
    const auto after = system::read_containerd_files(*situation_.machine.host, config_.path,
                                                     config_.is_named, changed(edits));
    const auto answer = system::judge_containerd(after);
    if (answer.starts != Known::yes || answer.nri != Known::yes) return answer.why();
    if (is_empty()) return "";
    for (const auto& [release, before] : readings_) {
      const auto now = system::read_as(after, release);
      if (now.version != before.version || now.answer.socket != before.answer.socket)
        return config_.path + ": each edit would change more than NRI for containerd " +
               std::string(system::kContainerdReleases[static_cast<std::size_t>(release)]);
    }
    return "";
  }

  /// Edits, or why they cannot be made.
  struct Candidate {
    Edits edits{};
    std::string failure{};
  };

  [[nodiscard]] std::vector<Candidate> candidates() const {
    std::vector<Candidate> all;
    const auto add = [&](Edits edits, const Status& status) {
      all.push_back({std::move(edits), status ? "" : status.error().message});
    };
    Edits flips;
    const auto flipped = flip(flips);
    add(flips, flipped);
    if (const auto* last = last_section()) {
      Edits edits = flips;
      const auto status = flipped ? set_false(*last, disables(), edits) : flipped;
      add(std::move(edits), status);
    }
    for (const Edits* base : {static_cast<const Edits*>(&flips), &kNone}) {
      for (const auto& folder : config_.drop_in_folders) {
        for (const auto& version : versions()) {
          Edits edits = *base;
          const auto status = add_drop_in(folder + "/" + kDropIn, version, edits);
          add(std::move(edits), status);
        }
      }
    }
    Edits edits = flips;
    const auto status = add_to_main(edits);
    add(std::move(edits), status);
    return all;
  }

  /// The names by which the releases find NRI's section.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    bool is_short = false;
    bool is_long = false;
    for (const auto& [release, reading] : readings_) {
      const bool is_1 = release == system::ContainerdRelease::v1_7 && reading.version < 2;
      (is_1 ? is_short : is_long) = true;
    }
    if (is_short) names.emplace_back(system::kNriPluginBefore2);
    // containerd 2 has NRI on: its name is needed only where something says otherwise.
    const bool is_said = std::ranges::any_of(config_.files, [](const auto& file) {
      return file.content.value &&
             data::below(*file.content.value, {"plugins", system::kNriPlugin}) != nullptr;
    });
    if (is_long && (!is_short || is_said)) names.emplace_back(system::kNriPlugin);
    return names;
  }

  [[nodiscard]] std::vector<data::TomlPath> disables() const {
    std::vector<data::TomlPath> paths;
    for (const auto& name : names()) paths.push_back({"plugins", name, "disable"});
    return paths;
  }

  /// Each flag that says no is to say yes, however it is written.
  [[nodiscard]] Status flip(Edits& edits) const {
    for (const auto& file : config_.files) {
      std::vector<data::TomlPath> flags;
      for (const auto& name : names()) {
        const auto* section =
            file.content.value ? data::below(*file.content.value, {"plugins", name}) : nullptr;
        if (section == nullptr) continue;
        for (const auto& entry : section->entries) {
          const auto key = to_lower(entry.key);
          if ((key == "disable" || key == "disable_connections") &&
              entry.value.as_bool().value_or(false))
            flags.push_back({"plugins", name, entry.key});
        }
      }
      TRY_STATUS(set_false(file, flags, edits));
    }
    return {};
  }

  /// The file whose section counts; nullptr: none has one.
  [[nodiscard]] const system::ConfigFile* last_section() const {
    const system::ConfigFile* last = nullptr;
    for (const auto& file : config_.files) {
      for (const auto& name : names()) {
        if (file.content.value && data::below(*file.content.value, {"plugins", name}) != nullptr)
          last = &file;
      }
    }
    return last;
  }

  /// True where the main file says nothing, and no other does.
  [[nodiscard]] bool is_empty() const {
    const auto& main = config_.files.front();
    return !main.content.value || main.content.value->entries.empty();
  }

  /// The lines that a drop-in may begin with: the main file's version, those of others, or none,
  /// which changes the version of no merge.
  [[nodiscard]] std::vector<std::string> versions() const {
    std::vector<std::string> lines;
    for (const auto& file : config_.files) {
      const auto* said = file.content.value ? file.content.value->find("version") : nullptr;
      std::string line = said == nullptr ? "" : "version = " + said->scalar + "\n";
      if (!contains(lines, line)) lines.push_back(std::move(line));
    }
    if (!contains(lines, "")) lines.emplace_back();
    return lines;
  }

  [[nodiscard]] Status add_drop_in(const std::string& path, std::string text, Edits& edits) const {
    const auto* there = find_by(config_.files, &system::ConfigFile::path, path);
    for (const auto& flag : disables()) text = TRY(data::set_toml_boolean(text, flag, false));
    FileText file{path, std::move(text)};
    if (there != nullptr && there->content.value) file.edited = there->text;
    edits.insert_or_assign(path, std::move(file));
    return {};
  }

  [[nodiscard]] Status add_to_main(Edits& edits) const {
    const auto& main = config_.files.front();
    if (!is_empty()) return set_false(main, disables(), edits);
    const auto text =
        TRY(data::set_toml_boolean(main.text + "version = 2\n",
                                   {"plugins", std::string(system::kNriPlugin), "disable"}, false));
    FileText file{main.path, text};
    if (main.content.value) file.edited = main.text;
    edits.insert_or_assign(main.path, std::move(file));
    return {};
  }

  /// Who would take our change to this file away. "": nobody.
  [[nodiscard]] std::string writer_of(const std::string& path, const FileText& edit) const {
    const auto owner_at = [&](const std::string& place) {
      return system::owner_of_file(place, edit.edited.value_or(""), situation_.system.runtime.unit);
    };
    auto owner = owner_at(path);
    // What is written is the file behind the links.
    if (!owner.is_somebody()) owner = owner_at(without_links(*situation_.machine.host, path));
    // What is in the folder that K3s and RKE2 import is not theirs (k3s-io/k3s#13680).
    const bool is_ours =
        path.ends_with(std::string("/") + kDropIn) && (owner.name == "K3s" || owner.name == "RKE2");
    if (!owner.is_somebody() || is_ours) return "";
    std::string text = path + " is written by " + owner.name + " (" + owner.sign + ")";
    for (const auto& folder : config_.drop_in_folders)
      text += ", which imports the files of " + folder;
    return text;
  }

  static inline const Edits kNone{};

  const Situation& situation_;
  const system::ContainerdFiles& config_;
  system::RuntimeAnswer before_;
  std::vector<std::pair<system::ContainerdRelease, system::ContainerdReading>> readings_;
};

/// Keys that CRI-O does not have, so that nobody takes them for the setting.
std::string unknown_keys(const system::RuntimeAnswer& answer) {
  std::vector<std::string> texts;
  for (const auto& reason : answer.reasons) {
    if (reason.code == "unknown-key") texts.push_back(reason.place() + ": " + reason.words());
  }
  return join(texts, "; ");
}

Step crio_step(const Situation& situation, const system::CrioFiles& files) {
  Step step{.id = "nri.enabled", .title = "CRI-O takes NRI plugins", .before = "disabled"};
  const auto before = system::judge_crio(files);
  if (before.starts == Known::no)
    return refused(std::move(step), "CRI-O does not start with its files: " + before.why());
  if (before.starts == Known::unknown)
    return parked(std::move(step), "its files cannot be read whole: " + before.why());
  const auto socket = situation.system.nri_socket();
  if (before.nri == Known::yes) return enabled(situation, std::move(step), before.why());
  if (before.nri == Known::unknown && socket)
    return enabled(situation, std::move(step), *socket + " is there");
  auto file = crio_nri_file();
  file.path = files.options.folder + file.path.substr(file.path.rfind('/'));
  const bool is_closed = std::ranges::any_of(
      before.reasons, [](const auto& reason) { return reason.code == "connections-disabled"; });
  if (is_closed) file.text += "  nri_disable_connections = false\n";
  const auto after = system::judge_crio(
      system::read_crio_files(*situation.machine.host, files.options, {{file.path, file.text}}));
  if (after.starts != Known::yes || after.nri != Known::yes)
    return refused(std::move(step), after.why());
  step.after = "enabled";
  step = files_step(situation, std::move(step), {file});
  if (step.state == StepState::todo) step.reason = unknown_keys(before);
  return step;
}

/// Of a runtime that is not known, or whose files are not.
Step waiting(std::string why) {
  return parked({.id = "nri.enabled", .title = "the runtime takes NRI plugins"}, std::move(why));
}

/// A machine without a runtime and without a kubelet starts no pods: nothing is missing there.
Step without_runtime(const Situation& situation) {
  const auto& system = situation.system;
  const bool has_unit = std::ranges::any_of(
      system.units, [](const auto& unit) { return unit.name == "kubelet" && !unit.path.empty(); });
  const auto folder = system.folder("/var/lib/kubelet");
  if (has_unit || folder.known() || system.processes.find("kubelet") != nullptr)
    return waiting("neither containerd nor CRI-O is here");
  return {.id = "nri.enabled",
          .title = "the runtime takes NRI plugins",
          .before = "no runtime here",
          .after = "no runtime here",
          .reason = "neither a container runtime nor a kubelet is here"};
}

/// Why a runtime does not start, or may not. "": it does.
std::string why_not(const system::RuntimeAnswer& answer) {
  if (answer.starts == Known::yes) return "";
  return (answer.starts == Known::no ? "it would not start again: "
                                     : "whether it would start again is not known: ") +
         answer.why();
}

}  // namespace

void plan_nri(const Situation& situation, Plan& plan) {
  if (!situation.wanted.nri) return;
  const auto& system = situation.system;
  const auto& runtime = system.runtime;
  if (!runtime.unknown.empty()) return plan.push_back(waiting(runtime.unknown));
  if (!runtime.is_here() && !system.nri_socket()) return plan.push_back(without_runtime(situation));
  if (runtime.is_here() && !runtime.is("crio") && !runtime.is("containerd"))
    return plan.push_back(waiting(runtime.name + " takes no NRI plugins (" + runtime.basis + ")"));
  plan.push_back(runtime.is("crio") ? crio_step(situation, system.crio)
                                    : ContainerdNri(situation, system.containerd).make());
}

std::string missing_nri_socket(const Situation& situation) {
  const auto& system = situation.system;
  if (system.runtime.pid == 0 || system.nri_socket()) return "";
  const auto place = system.nri_place();
  if (system.dead_nri_socket()) return "nobody listens at NRI's socket " + place;
  const auto folder = system.folder(place.substr(0, place.rfind('/')));
  return folder.error.empty() ? "no NRI socket at " + place : "";
}

std::string kept_from_starting(const Situation& situation, const std::string& unit) {
  const auto& system = situation.system;
  auto& host = *situation.machine.host;
  const auto& runtime = system.runtime;
  if (unit == runtime.unit && (runtime.is("containerd") || runtime.is("crio"))) {
    if (!runtime.unknown.empty())
      return "whether it would start again is not known: " + runtime.unknown;
    return why_not(system.runtime_answer());
  }
  if (unit != "containerd" && unit != "crio") return "";
  // A unit whose process names another file than the usual one is not judged by that.
  for (const auto& service : system.processes.services) {
    if (service.name == unit && service.pid != runtime.pid && !service.config.empty() &&
        service.config != system::default_runtime_config(unit))
      return "whether it would start again is not known: process " + std::to_string(service.pid) +
             " reads " + service.config;
  }
  const auto config = system::default_runtime_config(unit);
  return why_not(unit == "crio" ? system::judge_crio(system::read_crio_files(host, {}))
                                : system::judge_containerd(
                                      system::read_containerd_files(host, config, false)));
}

std::map<std::string, std::string> kept_by_files(const Machine& machine,
                                                 const system::ChangedFiles& changed) {
  std::map<std::string, std::string> kept;
  if (changed.empty()) return kept;
  using system::Part;
  const auto now = system::read_system(*machine.host, {}, Part::services | Part::runtime);
  const auto look = [&](const std::vector<system::ConfigFile>& before,
                        const std::vector<system::ConfigFile>& after, std::string why) {
    for (const auto& [path, text] : changed) {
      const bool is_read = find_by(before, &system::ConfigFile::path, path) != nullptr ||
                           find_by(after, &system::ConfigFile::path, path) != nullptr;
      if (is_read && !why.empty()) kept.emplace(path, why);
    }
  };
  const auto containerd = system::read_containerd_files(*machine.host, now.containerd.path,
                                                        now.containerd.is_named, changed);
  look(now.containerd.files, containerd.files, why_not(system::judge_containerd(containerd)));
  const auto crio = system::read_crio_files(*machine.host, now.crio.options, changed);
  look(now.crio.files, crio.files, why_not(system::judge_crio(crio)));
  return kept;
}

}  // namespace railhead::setup
