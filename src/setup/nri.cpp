// SPDX-License-Identifier: Apache-2.0
//
// Facts: containerd 1.7 has NRI off unless its file says `disable = false`, containerd 2 has it on
// unless it says `disable = true` (docs/NRI.md of both). A file of version 1 names plugins without
// their type; containerd 2 takes "nri" in it for another plugin, and warns. CRI-O has it on
// since 1.26.2 unless `enable_nri = false` (docs/crio.conf.5.md). What containerd 1.7 says of a
// plugin is the section of the last file that has it, whole, and `disabled_plugins` of all files
// (cmd/containerd's server/config/config.go, mergeConfig).
#include <algorithm>
#include <utility>

#include "base/absent.h"
#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "data/below.h"
#include "data/toml.h"
#include "setup/plan.h"
#include "system/file_owner.h"

namespace railhead::setup {
namespace {

/// Of containerd's file; containerd 2 writes 3.
constexpr std::uint64_t kNewestSchema = 3;
constexpr const char* kDropIn = "50-railhead-nri.toml";

/// Absent: the section does not say it.
std::optional<bool> flag_in(const data::Value* section, std::string_view key) {
  const auto* flag = data::below(section, {key});
  return flag != nullptr ? or_absent(flag->as_bool()) : std::nullopt;
}

/// What is to be in a file, and what it was made of.
struct Edit {
  std::string path;
  Result<std::string> text;
  std::optional<std::string> edited{};
};

/// What a file would be with each of these flags false.
Edit with_false(const system::ConfigFile& file, const std::vector<data::TomlPath>& flags) {
  std::string text = file.text;
  for (const auto& flag : flags) {
    auto edited = data::set_toml_boolean(text, flag, false);
    if (!edited) return {file.path, edited.error().context(file.path)};
    text = *std::move(edited);
  }
  return {file.path, std::move(text), file.text};
}

class ContainerdNri {
 public:
  ContainerdNri(const Situation& situation, const system::ContainerdFiles& config)
      : situation_(situation),
        config_(config) {}

  /// Each file that says no is changed. Where nothing says it and containerd does not take plugins
  /// by itself, one is to say yes.
  [[nodiscard]] Step make() const {
    for (const auto& file : config_.files) {
      if (!is_switched_off(file)) continue;
      return refused(step("disabled"),
                     file.path + ": disabled_plugins names it: take it out there");
    }
    const auto* last = last_section();
    std::vector<Edit> edits;
    for (const auto& file : config_.files) {
      const auto flags = flags_to_set(file, &file == last);
      if (!flags.empty()) edits.push_back(with_false(file, flags));
    }
    if (!edits.empty()) return changed(edits);
    if (last == nullptr && !situation_.system.nri_socket()) return changed({added()});
    const bool is_said = last != nullptr && disable_in(*last).has_value();
    Step done = step("enabled");
    done.after = done.before;
    done.reason = is_said ? config_.path : "containerd's default: its NRI socket is there";
    return done;
  }

 private:
  /// The file whose section counts; nullptr: none has one.
  [[nodiscard]] const system::ConfigFile* last_section() const {
    const system::ConfigFile* last = nullptr;
    for (const auto& file : config_.files) {
      if (system::containerd_nri_section(config_, file) != nullptr) last = &file;
    }
    return last;
  }

  [[nodiscard]] std::optional<bool> disable_in(const system::ConfigFile& file) const {
    return flag_in(system::containerd_nri_section(config_, file), "disable");
  }

  /// What says no, and `disable` of the section that counts where nothing else shows that it is on.
  [[nodiscard]] std::vector<data::TomlPath> flags_to_set(const system::ConfigFile& file,
                                                         bool counts) const {
    const auto disabled = disable_in(file);
    const bool is_unsaid = counts && !disabled && !situation_.system.nri_socket();
    std::vector<data::TomlPath> flags;
    if (disabled.value_or(false) || is_unsaid) flags.push_back(path_in(file, "disable"));
    const auto* section = system::containerd_nri_section(config_, file);
    if (flag_in(section, "disable_connections").value_or(false))
      flags.push_back(path_in(file, "disable_connections"));
    return flags;
  }

  /// Whether it keeps the plugin from being there at all.
  [[nodiscard]] bool is_switched_off(const system::ConfigFile& file) const {
    const auto* list = file.content.value ? file.content.value->find("disabled_plugins") : nullptr;
    const auto names = list != nullptr ? list->as_strings().value_or(std::vector<std::string>())
                                       : std::vector<std::string>();
    return contains(names, system::kNriPlugin) ||
           (config_.version() < 2 && contains(names, system::kNriPluginBefore2));
  }

  [[nodiscard]] data::TomlPath path_in(const system::ConfigFile& file, const char* key) const {
    return {"plugins", std::string(system::containerd_nri_plugin(config_, file)), key};
  }

  static Step step(std::string before) {
    return {
        .id = "nri.enabled", .title = "containerd takes NRI plugins", .before = std::move(before)};
  }

  [[nodiscard]] Step changed(const std::vector<Edit>& edits) const {
    Step change = step("disabled");
    std::vector<FileText> files;
    for (const auto& [path, text, edited] : edits) {
      const auto owner =
          system::owner_of_file(path, edited.value_or(""), situation_.system.runtime.unit);
      if (owner.is_somebody()) {
        return refused(std::move(change),
                       path + " is written by " + owner.name + " (" + owner.sign + ")");
      }
      if (!text) return refused(std::move(change), text.error().message);
      change.after += (change.after.empty() ? "disable = false in " : ", ") + path;
      files.push_back({path, *text, edited});
    }
    return files_step(situation_, std::move(change), files);
  }

  /// A drop-in where containerd reads one; else its own file.
  [[nodiscard]] Edit added() const {
    const auto& main = config_.files.front();
    const bool says_something = main.content.value && !main.content.value->entries.empty();
    if (says_something && config_.drop_in_folders.empty())
      return with_false(main, {path_in(main, "disable")});
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
  Step step{.id = "nri.enabled", .title = "CRI-O takes NRI plugins"};
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
  return files_step(situation, std::move(step), {crio_nri_file()}, said_by);
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

/// The first file that is there and cannot be read whole.
const system::ConfigFile* unreadable(const std::vector<system::ConfigFile>& files) {
  return find_where(files,
                    [](const auto& file) { return !file.content.value && !file.content.absent(); });
}

/// Why nobody can say what the main file means. "": it can be said.
std::string unknown_schema(const system::ContainerdFiles& config) {
  const auto* said = config.files.empty() || !config.files.front().content.value
                         ? nullptr
                         : config.files.front().content.value->find("version");
  const auto version = said == nullptr ? std::uint64_t{1} : said->as_unsigned().value_or(~0ULL);
  if (said != nullptr && (said->quoted || version > kNewestSchema))
    return config.path + ": version " + in_quotes(said->scalar) + " is none that setup knows";
  if (config.unread.empty()) return "";
  return config.path + ": imports " + in_quotes(config.unread.front()) +
         ", a pattern that setup does not read";
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
  const auto& files = runtime.is("crio") ? system.crio : system.containerd.files;
  if (const auto* file = unreadable(files))
    return plan.push_back(waiting(file->path + ": " + file->content.error));
  if (runtime.is("crio")) return plan.push_back(crio_step(situation, system.crio));
  std::string unknown = unknown_schema(system.containerd);
  if (!unknown.empty()) return plan.push_back(waiting(std::move(unknown)));
  plan.push_back(ContainerdNri(situation, system.containerd).make());
}

}  // namespace railhead::setup
