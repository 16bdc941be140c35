// SPDX-License-Identifier: Apache-2.0
#include "base/contains.h"
#include "base/text.h"
#include "host/process.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

/// The process of a service, by its name. Absent: none runs, or none can be seen.
std::optional<int> process_of(host::Host& host, const std::string& name) {
  const auto processes = host::find_processes(host, "/proc", name);
  if (!processes || processes->empty()) return std::nullopt;
  return processes->front();
}

/// Why a service that runs is not as its files say. "": it is, or it does not run.
std::string behind_its_files(const Situation& situation, const std::string& service) {
  host::Host& host = *situation.machine.host;
  const auto process = process_of(host, service);
  if (!process) return "";
  const bool wants_memlock = contains(situation.wanted.memlock_services, service);
  const auto facts = host::read_process(host, "/proc", *process);
  if (wants_memlock && system::read_unit(host, service).memlock == "infinity" && facts && *facts &&
      (*facts)->memlock_hard_bytes &&
      *(*facts)->memlock_hard_bytes != host::ProcessFacts::kUnlimited) {
    return service + " (process " + std::to_string(*process) + ") may lock " +
           std::to_string(*(*facts)->memlock_hard_bytes) + " bytes";
  }
  return "";
}

bool is_runtime(const std::string& service) {
  return service == "containerd" || service == "crio";
}

bool is_done(const Plan& plan, std::string_view id) {
  for (const auto& step : plan) {
    if (step.id == id && step.state != StepState::done) return false;
  }
  return true;
}

Step restart(const Situation& situation, const Plan& plan, const std::string& service,
             const std::string& why) {
  Step step;
  step.id = "service.restarted/" + service;
  step.title = service + " runs as its files say";
  step.risk = Risk::restart;
  step.before = why;
  step.after = "restarted";
  if (!situation.machine.is_live) {
    step.state = StepState::parked;
    step.reason = "no kernel runs in this tree";
  } else if (!has_systemd(situation)) {
    step.state = StepState::parked;
    step.reason = "systemd does not run here: restart it by hand";
  } else if (!is_done(plan, "nri.enabled") || !is_done(plan, "memlock.service/" + service)) {
    step.state = StepState::parked;
    step.reason = "after its files";
  } else {
    step.state = StepState::todo;
    step.changes = {{Change::Kind::service, service, ""}};
  }
  return step;
}

}  // namespace

void plan_restarts(const Situation& situation, Plan& plan) {
  std::vector<std::string> services = situation.wanted.memlock_services;
  for (const std::string runtime : {"containerd", "crio"}) {
    if (situation.wanted.nri && !contains(services, runtime)) services.push_back(runtime);
  }
  for (const auto& service : services) {
    std::string why = behind_its_files(situation, service);
    const bool lacks_socket = situation.wanted.nri && is_runtime(service) &&
                              process_of(*situation.machine.host, service) &&
                              !situation.system.nri_socket();
    if (why.empty() && lacks_socket) why = "no NRI socket in /run/nri";
    if (!why.empty()) plan.push_back(restart(situation, plan, service, why));
  }
}

}  // namespace railhead::setup
