// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/text.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

/// Of a sysctl_name().
std::string path_of(const std::string& name) {
  std::string path = name;
  std::ranges::transform(path, path.begin(), [](char c) {
    return c == '.' ? '/' : c == '/' ? '.' : c;
  });
  return "/proc/sys/" + path;
}

/// The folders of sysctl.d(5). A file hides those of its name in later ones.
constexpr const char* kSysctlFolders[] = {"/etc/sysctl.d", "/run/sysctl.d",
                                          "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d",
                                          "/lib/sysctl.d"};

struct SysctlLine {
  std::string value;
  std::string path;
};

/// What files say that are read after ours: it counts when the machine starts. Patterns do not
/// count, where a file names the sysctl itself.
std::map<std::string, SysctlLine> said_after(host::Host& host, const std::string& ours) {
  const std::string own = ours.substr(ours.rfind('/') + 1);
  std::map<std::string, std::string> files;
  for (const std::string folder : kSysctlFolders) {
    for (const auto& name : names_in(host, folder, ".conf")) {
      if (name > own) files.emplace(name, folder + "/" + name);
    }
  }
  std::map<std::string, SysctlLine> said;
  for (const auto& [name, path] : files) {
    const std::string text = text_of(host, path);
    for (auto line : split(text, '\n')) {
      line = trim(line);
      const auto equals = line.find('=');
      if (line.starts_with('#') || line.starts_with(';') || equals == line.npos) continue;
      if (line.starts_with('-')) line.remove_prefix(1);  // an error is of no matter
      const auto key = sysctl_name(std::string(trim(line.substr(0, line.find('=')))));
      said[key] = {with_single_spaces(line.substr(line.find('=') + 1)), path};
    }
  }
  return said;
}

/// What somebody else sets otherwise at the next boot.
void add_overridden(const Situation& situation, const std::string& ours, Plan& plan) {
  const auto said = said_after(*situation.machine.host, ours);
  for (const auto& [name, value] : situation.wanted.sysctl) {
    const auto other = said.find(name);
    if (other == said.end() || other->second.value == with_single_spaces(value)) continue;
    Step step{.id = "sysctl.kept-at-boot/" + name,
              .title = name + " stays " + value + " at boot",
              .before = other->second.value,
              .after = value};
    plan.push_back(parked(std::move(step), other->second.path + " says " + other->second.value +
                                               " after " + ours + ": change it there"));
  }
}

Step set_now(const Situation& situation, const std::string& name, const std::string& value) {
  Step step{.id = "sysctl/" + name, .title = name + " is " + value, .after = value};
  const std::string path = path_of(name);
  const auto now = situation.machine.host->read(path);
  step.before = now && *now ? with_single_spaces(**now) : "";
  if (!now) return parked(std::move(step), now.error().message);
  if (!*now) return parked(std::move(step), "the kernel has no " + path);
  if (step.before == with_single_spaces(value)) {
    step.reason = path;
    return step;
  }
  if (!situation.machine.is_live)
    return parked(std::move(step), "no kernel runs in this tree: the next boot sets it");
  return kernel_step(situation, std::move(step), "", {Change::Kind::attribute, path, value});
}

}  // namespace

void plan_sysctl(const Situation& situation, Plan& plan) {
  if (situation.wanted.sysctl.empty()) return;
  for (const auto& [name, value] : situation.wanted.sysctl)
    plan.push_back(set_now(situation, name, value));
  Step step{.id = "sysctl.at-boot", .title = "sysctls are set at boot"};
  const auto file = sysctl_file(situation.wanted);
  plan.push_back(files_step(situation, std::move(step), {file}));
  add_overridden(situation, file.path, plan);
}

}  // namespace railhead::setup
