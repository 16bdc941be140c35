// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

/// sysctl.d(5): where the first separator is a slash, dots belong to names
/// ("net/ipv4/conf/eth0.1").
std::string path_of(const std::string& name) {
  std::string path = name;
  const auto first = name.find_first_of("./");
  if (first != std::string::npos && name[first] == '.') {
    std::transform(path.begin(), path.end(), path.begin(), [](char c) {
      return c == '.' ? '/' : c == '/' ? '.' : c;
    });
  }
  return "/proc/sys/" + path;
}

Step set_now(const Situation& situation, const std::string& name, const std::string& value) {
  Step step;
  step.id = "sysctl/" + name;
  step.title = name + " is " + value;
  step.after = value;
  const std::string path = path_of(name);
  const auto now = situation.machine.host->read(path);
  step.before = now && *now ? with_single_spaces(**now) : "";
  if (now && *now && step.before == with_single_spaces(value)) {
    step.reason = path;
  } else if (!now || !*now) {
    step.state = StepState::parked;
    step.reason = now ? "the kernel has no " + path : now.error().message;
  } else if (!situation.machine.is_live) {
    step.state = StepState::parked;
    step.reason = "no kernel runs in this tree: the next boot sets it";
  } else {
    step.state = StepState::todo;
    step.changes = {{Change::Kind::attribute, path, value}};
  }
  return step;
}

}  // namespace

void plan_sysctl(const Situation& situation, Plan& plan) {
  if (situation.wanted.sysctl.empty()) return;
  for (const auto& [name, value] : situation.wanted.sysctl)
    plan.push_back(set_now(situation, name, value));
  Step step;
  step.id = "sysctl.at-boot";
  step.title = "sysctls are set at boot";
  plan.push_back(files_step(situation, std::move(step), {sysctl_file(situation.wanted)}));
}

}  // namespace railhead::setup
