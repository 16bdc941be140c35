// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

Step of_service(const Situation& situation, const std::string& service) {
  Step step;
  step.id = "memlock.service/" + service;
  step.title = service + " may lock any amount of memory";
  step.after = "LimitMEMLOCK=infinity";
  const auto unit = system::read_unit(*situation.machine.host, service);
  if (unit.path.empty()) {
    step.state = StepState::parked;
    step.reason = "systemd has no " + service + ".service here";
    return step;
  }
  step.before = unit.memlock.empty() ? "systemd's default" : "LimitMEMLOCK=" + unit.memlock;
  if (unit.memlock == "infinity") {
    step.reason = unit.memlock_path;
    return step;
  }
  return files_step(situation, std::move(step), {memlock_file(service)}, unit.memlock_path);
}

}  // namespace

void plan_memlock(const Situation& situation, Plan& plan) {
  for (const auto& service : situation.wanted.memlock_services)
    plan.push_back(of_service(situation, service));
  if (!situation.wanted.limits_file) return;
  Step step;
  step.id = "memlock.limits-file";
  step.title = "people who log in may lock any amount of memory";
  plan.push_back(files_step(situation, std::move(step), {limits_file()}));
}

}  // namespace railhead::setup
