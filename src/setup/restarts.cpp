// SPDX-License-Identifier: Apache-2.0
#include "base/contains.h"
#include "base/find.h"
#include "host/process.h"
#include "setup/plan.h"

namespace railhead::setup {
namespace {

/// Why a service that runs is not as its files say. "": it is, or it does not run.
std::string behind_its_files(const Situation& situation, const std::string& service) {
  host::Host& host = *situation.machine.host;
  const bool wants_memlock = contains(situation.wanted.memlock_services, service);
  if (!wants_memlock || system::read_unit(host, service).memlock != "infinity") return "";
  return limited_process(host, service);
}

/// Whether a step is done, or not there.
bool is_done(const Plan& plan, std::string_view id) {
  const auto* step = find_by(plan, &Step::id, id);
  return step == nullptr || step->state == StepState::done;
}

Step restart(const Situation& situation, const Plan& plan, const std::string& service,
             const std::string& why) {
  Step step{.id = "service.restarted/" + service,
            .title = service + " runs as its files say",
            .risk = Risk::restart,
            .before = why,
            .after = "restarted"};
  if (!situation.machine.is_live) return parked(std::move(step), "no kernel runs in this tree");
  if (!has_systemd(situation))
    return parked(std::move(step), "systemd does not run here: restart it by hand");
  if (!is_done(plan, "nri.enabled") || !is_done(plan, "memlock.service/" + service))
    return parked(std::move(step), "after its files");
  return kernel_step(situation, std::move(step), "", {Change::Kind::service, service, ""});
}

}  // namespace

void plan_restarts(const Situation& situation, Plan& plan) {
  const std::vector<std::string> runtimes{"containerd", "crio"};
  std::vector<std::string> services = situation.wanted.memlock_services;
  for (const auto& runtime : runtimes) {
    if (situation.wanted.nri && !contains(services, runtime)) services.push_back(runtime);
  }
  for (const auto& service : services) {
    std::string why = behind_its_files(situation, service);
    const bool takes_plugins = situation.wanted.nri && contains(runtimes, service);
    if (why.empty() && takes_plugins && !situation.system.nri_socket()) {
      const auto processes = host::find_processes(*situation.machine.host, "/proc", service);
      if (processes && !processes->empty()) why = "no NRI socket in /run/nri";
    }
    if (!why.empty()) plan.push_back(restart(situation, plan, service, why));
  }
}

}  // namespace railhead::setup
