// SPDX-License-Identifier: Apache-2.0
//
// Facts: containerd 1.7 has NRI off unless its file says `disable = false`, containerd 2 has it on
// unless it says `disable = true` (docs/NRI.md of both). A file of version 1 names plugins without
// their type; containerd 2 takes "nri" in it for another plugin, and warns. CRI-O has it on
// since 1.26.2 unless `enable_nri = false` (docs/crio.conf.5.md).
#include <utility>

#include "base/text.h"
#include "data/toml.h"
#include "setup/plan.h"
#include "setup/runtime_config.h"
#include "setup/units.h"

namespace railhead::setup {
namespace {

constexpr const char* kDropIn = "50-railhead-nri.toml";

std::string plugin_of(int version) {
  return version < 2 ? "nri" : "io.containerd.nri.v1.nri";
}

/// Absent: the file does not say it.
std::optional<bool> flag_in(const data::Value& toml, const data::TomlPath& path) {
  const data::Value* at = &toml;
  for (const auto& key : path) {
    at = at->kind == data::Value::Kind::map ? at->find(key) : nullptr;
    if (at == nullptr) return std::nullopt;
  }
  const auto flag = at->as_bool();
  return flag ? std::optional(*flag) : std::nullopt;
}

/// What a file would be with each of these flags false.
Result<std::string> with_false(const RuntimeFile& file, const std::vector<data::TomlPath>& flags) {
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
  ContainerdNri(const Situation& situation, const ContainerdConfig& config)
      : situation_(situation),
        config_(config),
        plugin_(plugin_of(config.version())) {}

  /// Each file that says no is changed. Where nothing says it and containerd does not take plugins
  /// by itself, one is to say yes.
  [[nodiscard]] Step make() const {
    bool is_said = false;
    Texts texts;
    for (const auto& file : config_.files) {
      const auto disabled = flag_in(file.toml, path_of("disable"));
      is_said = is_said || disabled;
      std::vector<data::TomlPath> flags;
      if (disabled.value_or(false)) flags.push_back(path_of("disable"));
      if (flag_in(file.toml, path_of("disable_connections")).value_or(false))
        flags.push_back(path_of("disable_connections"));
      if (!flags.empty()) texts.emplace_back(file.path, with_false(file, flags));
    }
    if (!texts.empty()) return changed(texts);
    if (is_said || has_nri_socket(*situation_.machine.host)) return is_on(is_said);
    return changed({added()});
  }

 private:
  [[nodiscard]] data::TomlPath path_of(const char* key) const { return {"plugins", plugin_, key}; }

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
    for (const auto& [path, text] : texts) {
      const std::string writer = writer_of(path);
      if (!writer.empty() || !text) {
        step.state = StepState::refused;
        step.reason = writer.empty() ? text.error().message : writer;
        step.changes.clear();
        return step;
      }
      step.after += (step.after.empty() ? "disable = false in " : ", ") + path;
      Step one = file_step(situation_, step, path, *text);
      one.changes.insert(one.changes.begin(), step.changes.begin(), step.changes.end());
      step = std::move(one);
    }
    return step;
  }

  /// A drop-in where containerd reads one; else its own file.
  [[nodiscard]] std::pair<std::string, Result<std::string>> added() const {
    const bool has_file = !config_.files.empty() && config_.files.front().path == config_.path;
    const bool says_something = has_file && !config_.files.front().toml.entries.empty();
    if (says_something && config_.drop_in_folders.empty())
      return {config_.path, with_false(config_.files.front(), {path_of("disable")})};
    const int version = says_something ? config_.version() : 2;
    std::string text = has_file && !says_something ? config_.files.front().text : "";
    if (version >= 2) text += "version = " + std::to_string(version) + "\n";
    return {says_something ? config_.drop_in_folders.front() + "/" + kDropIn : config_.path,
            data::set_toml_boolean(text, {"plugins", plugin_of(version), "disable"}, false)};
  }

  const Situation& situation_;
  const ContainerdConfig& config_;
  std::string plugin_;
};

Step crio_step(const Situation& situation, const std::vector<RuntimeFile>& files) {
  Step step;
  step.id = "nri.enabled";
  step.title = "CRI-O takes NRI plugins";
  std::optional<bool> enabled;
  std::string said_by = "CRI-O's default";
  for (const auto& file : files) {
    const auto flag = flag_in(file.toml, {"crio", "nri", "enable_nri"});
    if (flag) said_by = file.path;
    if (flag) enabled = flag;
  }
  step.before = enabled.value_or(true) ? "enabled" : "disabled by " + said_by;
  step.after = "enabled";
  if (enabled.value_or(true)) {
    step.reason = said_by;
    return step;
  }
  return file_step(situation, std::move(step), "/etc/crio/crio.conf.d/99-railhead-nri.conf",
                   "[crio.nri]\n  enable_nri = true\n");
}

Step parked(std::string reason) {
  Step step;
  step.id = "nri.enabled";
  step.title = "the runtime takes NRI plugins";
  step.state = StepState::parked;
  step.reason = std::move(reason);
  return step;
}

}  // namespace

void plan_nri(const Situation& situation, Plan& plan) {
  if (!situation.wanted.nri) return;
  host::Host& host = *situation.machine.host;
  const auto crio = read_crio_config(host);
  if (!crio) return plan.push_back(parked(crio.error().message));
  if (!crio->empty() || process_of(host, "crio")) {
    return plan.push_back(crio_step(situation, *crio));
  }
  const auto config = ContainerdConfig::read(host, containerd_config_path(host));
  if (!config) return plan.push_back(parked(config.error().message));
  if (config->files.empty() && !process_of(host, "containerd") && !find_unit(host, "containerd") &&
      !has_nri_socket(host)) {
    return plan.push_back(parked("neither containerd nor CRI-O is here"));
  }
  plan.push_back(ContainerdNri(situation, *config).make());
}

}  // namespace railhead::setup
