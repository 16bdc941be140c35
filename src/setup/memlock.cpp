// SPDX-License-Identifier: Apache-2.0
#include "host/process.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

/// The process of a unit: of the runtime's the one that the kubelet uses.
int process_of(const Situation& situation, const std::string& service) {
  const auto& runtime = situation.system.runtime;
  if (runtime.pid != 0 && (runtime.unit == service || runtime.is(service))) return runtime.pid;
  const auto processes = host::find_processes(*situation.machine.host, "/proc", service);
  return !processes || processes->empty() ? 0 : processes->front();
}

/// Where files of the runtime give each container any amount, whatever its process may lock. "": no
/// file does.
std::string given_to_containers(const Situation& situation, const std::string& service) {
  const auto& runtime = situation.system.runtime;
  const auto& given = situation.system.container_memlock;
  const bool is_runtime = runtime.unit == service || runtime.is(service);
  if (!is_runtime || !given || given->soft_bytes != host::ProcessFacts::kUnlimited) return "";
  return given->others.empty() ? given->path : "";
}

Step of_service(const Situation& situation, const std::string& service) {
  Step step{.id = "memlock.service/" + service,
            .title = service + " may lock any amount of memory",
            .after = "LimitMEMLOCK=infinity"};
  const auto unit = system::read_unit(*situation.machine.host, service);
  if (const auto path = given_to_containers(situation, service); !path.empty()) {
    step.title = "containers of " + service + " may lock any amount of memory";
    step.before = step.after = situation.system.container_memlock->says;
    step.reason = path;
    return step;
  }
  const auto& runtime = situation.system.runtime;
  if (runtime.is(service) && !runtime.unit.empty() && runtime.unit != service) {
    return parked(std::move(step), service + " runs in " + runtime.unit +
                                       ".service here: name that in memlock.services");
  }
  if (unit.path.empty())
    return parked(std::move(step), "systemd has no " + service + ".service here");
  if (unit.memlock == "infinity") {
    step.before = "LimitMEMLOCK=infinity";
    step.reason = unit.memlock_path;
    return step;
  }
  const auto limited = limited_process(situation, service);
  step.before = (unit.memlock.empty() ? "systemd's default" : "LimitMEMLOCK=" + unit.memlock) +
                (limited.empty() ? "" : ": " + limited);
  return files_step(situation, std::move(step), {memlock_file(service)}, unit.memlock_path);
}

}  // namespace

std::string limited_process(const Situation& situation, const std::string& service) {
  const int process = process_of(situation, service);
  if (process == 0) return "";
  const auto facts = host::read_process(*situation.machine.host, "/proc", process);
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
