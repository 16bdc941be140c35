// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "base/text.h"
#include "setup/plan.h"
#include "setup/units.h"

namespace railhead::setup {
namespace {

constexpr const char* kLimits = "/etc/security/limits.d/99-railhead-memlock.conf";

Step of_service(const Situation& situation, const std::string& service) {
  Step step;
  step.id = "memlock.service/" + service;
  step.title = service + " may lock any amount of memory";
  step.after = "LimitMEMLOCK=infinity";
  host::Host& host = *situation.machine.host;
  const auto unit = find_unit(host, service);
  if (!unit) {
    step.state = StepState::parked;
    step.reason = "systemd has no " + service + ".service here";
    return step;
  }
  const auto limit = memlock_of(host, service);
  step.before = limit.value.empty() ? "systemd's default" : "LimitMEMLOCK=" + limit.value;
  if (limit.value == "infinity") {
    step.reason = limit.path;
    return step;
  }
  return file_step(situation, std::move(step),
                   "/etc/systemd/system/" + service + ".service.d/90-railhead-memlock.conf",
                   "[Service]\nLimitMEMLOCK=infinity\n");
}

}  // namespace

void plan_memlock(const Situation& situation, Plan& plan) {
  for (const auto& service : situation.wanted.memlock_services)
    plan.push_back(of_service(situation, service));
  if (!situation.wanted.limits_file) return;
  Step step;
  step.id = "memlock.limits-file";
  step.title = "people who log in may lock any amount of memory";
  plan.push_back(file_step(situation, std::move(step), kLimits,
                           "* - memlock unlimited\nroot - memlock unlimited\n"));
}

}  // namespace railhead::setup
