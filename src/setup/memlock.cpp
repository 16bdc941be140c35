// SPDX-License-Identifier: Apache-2.0
#include "host/process.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

Step of_service(const Situation& situation, const std::string& service) {
  Step step{.id = "memlock.service/" + service,
            .title = service + " may lock any amount of memory",
            .after = "LimitMEMLOCK=infinity"};
  const auto unit = system::read_unit(*situation.machine.host, service);
  if (unit.path.empty())
    return parked(std::move(step), "systemd has no " + service + ".service here");
  if (unit.memlock == "infinity") {
    step.before = "LimitMEMLOCK=infinity";
    step.reason = unit.memlock_path;
    return step;
  }
  const auto limited = limited_process(*situation.machine.host, service);
  step.before = (unit.memlock.empty() ? "systemd's default" : "LimitMEMLOCK=" + unit.memlock) +
                (limited.empty() ? "" : ": " + limited);
  return files_step(situation, std::move(step), {memlock_file(service)}, unit.memlock_path);
}

}  // namespace

std::string limited_process(host::Host& host, const std::string& service) {
  const auto processes = host::find_processes(host, "/proc", service);
  if (!processes || processes->empty()) return "";
  const int process = processes->front();
  const auto facts = host::read_process(host, "/proc", process);
  if (!facts || !*facts) return "";
  const auto limit = (*facts)->memlock_hard_bytes;
  if (!limit || *limit == host::ProcessFacts::kUnlimited) return "";
  return service + " (process " + std::to_string(process) + ") may lock " + std::to_string(*limit) +
         " bytes";
}

void plan_memlock(const Situation& situation, Plan& plan) {
  for (const auto& service : situation.wanted.memlock_services)
    plan.push_back(of_service(situation, service));
  if (!situation.wanted.limits_file) return;
  Step step{.id = "memlock.limits-file",
            .title = "people who log in may lock any amount of memory"};
  plan.push_back(files_step(situation, std::move(step), {limits_file()}));
}

}  // namespace railhead::setup
