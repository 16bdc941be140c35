// SPDX-License-Identifier: Apache-2.0
//
// Facts: containerd 1.7 has NRI off unless its file says `disable = false`, containerd 2 has it on
// unless it says `disable = true` (docs/NRI.md of both). A file of version 1 names plugins without
// their type; containerd 2 takes "nri" in it for another plugin, and warns. CRI-O has it on
// since 1.26.2 unless `enable_nri = false` (docs/crio.conf.5.md).
#include <algorithm>
#include <utility>

#include "base/absent.h"
#include "base/text.h"
#include "data/below.h"
#include "data/toml.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

/// Of containerd's file; containerd 2 writes 3.
constexpr int kNewestSchema = 3;
constexpr const char* kDropIn = "50-railhead-nri.toml";

/// Absent: the section does not say it.
std::optional<bool> flag_in(const data::Value* section, std::string_view key) {
  const auto* flag = data::below(section, {key});
  return flag != nullptr ? or_absent(flag->as_bool()) : std::nullopt;
}

/// What a file would be with each of these flags false.
Result<std::string> with_false(const system::ConfigFile& file,
                               const std::vector<data::TomlPath>& flags) {
  std::string text = file.text;
  for (const auto& flag : flags) {
    auto edited = data::set_toml_boolean(text, flag, false);
    if (!edited) return edited.error().context(file.path);
    text = *std::move(edited);
  }
  return text;
}

/// Paths, and what is to be there.
using Texts = std::vector<std::pair<std::string, Result<std::string>>>;

class ContainerdNri {
 public:
  ContainerdNri(const Situation& situation, const system::ContainerdFiles& config)
      : situation_(situation),
        config_(config) {}

  /// Each file that says no is changed. Where nothing says it and containerd does not take plugins
  /// by itself, one is to say yes.
  [[nodiscard]] Step make() const {
    bool is_said = false;
    Texts texts;
    for (const auto& file : config_.files) {
      const auto* section = system::containerd_nri_section(config_, file);
      const auto disabled = flag_in(section, "disable");
      is_said = is_said || disabled;
      std::vector<data::TomlPath> flags;
      if (disabled.value_or(false)) flags.push_back(path_in(file, "disable"));
      if (flag_in(section, "disable_connections").value_or(false))
        flags.push_back(path_in(file, "disable_connections"));
      if (!flags.empty()) texts.emplace_back(file.path, with_false(file, flags));
    }
    if (!texts.empty()) return changed(texts);
    if (is_said || situation_.system.nri_socket()) return is_on(is_said);
    return changed({added()});
  }

 private:
  [[nodiscard]] data::TomlPath path_in(const system::ConfigFile& file, const char* key) const {
    return {"plugins", std::string(system::containerd_nri_plugin(config_, file)), key};
  }

  static Step self() {
    Step step;
    step.id = "nri.enabled";
    step.title = "containerd takes NRI plugins";
    return step;
  }

  [[nodiscard]] Step is_on(bool is_said) const {
    Step done = self();
    done.before = "enabled";
    done.after = done.before;
    done.reason = is_said ? config_.path : "containerd's default: its NRI socket is there";
    return done;
  }

  /// Programs that write this file anew at each start would take our change away.
  [[nodiscard]] std::string writer_of(const std::string& path) const {
    if (path.find("/rancher/") == std::string::npos) return "";
    return "K3s and RKE2 write " + path +
           " at each start: put the table [plugins.\"io.containerd.nri.v1.nri\"] with disable = "
           "false into the template beside it, config.toml.tmpl (config-v3.toml.tmpl for "
           "containerd 2)";
  }

  [[nodiscard]] Step changed(const Texts& texts) const {
    Step step = self();
    step.before = "disabled";
    std::vector<FileText> files;
    for (const auto& [path, text] : texts) {
      const std::string writer = writer_of(path);
      if (!writer.empty() || !text) {
        step.state = StepState::refused;
        step.reason = writer.empty() ? text.error().message : writer;
        return step;
      }
      step.after += (step.after.empty() ? "disable = false in " : ", ") + path;
      files.push_back({path, *text});
    }
    return files_step(situation_, std::move(step), files);
  }

  /// A drop-in where containerd reads one; else its own file.
  [[nodiscard]] std::pair<std::string, Result<std::string>> added() const {
    const auto& main = config_.files.front();
    const bool says_something = main.content.value && !main.content.value->entries.empty();
    if (says_something && config_.drop_in_folders.empty())
      return {config_.path, with_false(main, {path_in(main, "disable")})};
    const int version = says_something ? config_.version() : 2;
    std::string text = says_something ? "" : main.text;
    if (version >= 2) text += "version = " + std::to_string(version) + "\n";
    const std::string plugin(version < 2 ? system::kNriPluginBefore2 : system::kNriPlugin);
    return {says_something ? config_.drop_in_folders.front() + "/" + kDropIn : config_.path,
            data::set_toml_boolean(text, {"plugins", plugin, "disable"}, false)};
  }

  const Situation& situation_;
  const system::ContainerdFiles& config_;
};

Step crio_step(const Situation& situation, const std::vector<system::ConfigFile>& files) {
  Step step;
  step.id = "nri.enabled";
  step.title = "CRI-O takes NRI plugins";
  std::optional<bool> enabled;
  std::string said_by = "CRI-O's default";
  for (const auto& file : files) {
    const auto flag = flag_in(system::crio_nri_section(file), "enable_nri");
    if (flag) said_by = file.path;
    if (flag) enabled = flag;
  }
  step.before = enabled.value_or(true) ? "enabled" : "disabled by " + said_by;
  step.after = "enabled";
  if (enabled.value_or(true)) {
    step.reason = said_by;
    return step;
  }
  return files_step(situation, std::move(step), {crio_nri_file()});
}

Step parked(std::string reason) {
  Step step;
  step.id = "nri.enabled";
  step.title = "the runtime takes NRI plugins";
  step.state = StepState::parked;
  step.reason = std::move(reason);
  return step;
}

/// The first file that is there and cannot be read whole.
const system::ConfigFile* unreadable(const std::vector<system::ConfigFile>& files) {
  const auto found = std::find_if(files.begin(), files.end(), [](const auto& file) {
    return !file.content.value && !file.content.absent();
  });
  return found == files.end() ? nullptr : &*found;
}

bool has_files(const std::vector<system::ConfigFile>& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return file.content.known(); });
}

}  // namespace

void plan_nri(const Situation& situation, Plan& plan) {
  if (!situation.wanted.nri) return;
  const auto& system = situation.system;
  for (const auto* files : {&system.crio, &system.containerd.files}) {
    const auto* file = unreadable(*files);
    if (file != nullptr) return plan.push_back(parked(file->path + ": " + file->content.error));
  }
  if (has_files(system.crio) || system.processes.find("crio") != nullptr)
    return plan.push_back(crio_step(situation, system.crio));
  const bool has_unit = std::any_of(system.units.begin(), system.units.end(), [](const auto& unit) {
    return unit.name == "containerd" && !unit.path.empty();
  });
  if (!has_files(system.containerd.files) && !has_unit && !system.nri_socket() &&
      system.processes.find("containerd") == nullptr) {
    return plan.push_back(parked("neither containerd nor CRI-O is here"));
  }
  const int version = system.containerd.version();
  if (version > kNewestSchema) {
    return plan.push_back(parked(system.containerd.path + ": version " + std::to_string(version) +
                                 " is newer than setup knows"));
  }
  plan.push_back(ContainerdNri(situation, system.containerd).make());
}

}  // namespace railhead::setup
