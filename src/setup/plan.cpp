// SPDX-License-Identifier: Apache-2.0
#include "setup/plan.h"

namespace railhead::setup {
namespace {

using PlanSteps = void (*)(const Situation& situation, Plan& plan);

constexpr PlanSteps kSubjects[] = {
    plan_modules, plan_rdma_namespaces, plan_sriov, plan_sysctl, plan_memlock,
    plan_nri,     plan_restarts,
};

/// The machine-config daemon keeps what it wrote there, and takes back what others change
/// (openshift/machine-config-operator, docs/MachineConfigDaemon.md).
std::string owner_of_etc(host::Host& host) {
  const auto daemon = host.list("/etc/machine-config-daemon");
  return daemon && *daemon ? "OpenShift's machine-config operator" : "";
}

}  // namespace

std::string_view to_string(Risk risk) {
  return risk == Risk::live ? "R1" : risk == Risk::restart ? "R2" : "R4";
}

std::string_view to_string(StepState state) {
  constexpr std::string_view kNames[] = {"todo", "done", "refused", "parked"};
  return kNames[static_cast<std::size_t>(state)];
}

Step file_step(const Situation& situation, Step step, const std::string& path,
               const std::string& text) {
  const auto now = situation.machine.host->read(path);
  if (step.after.empty()) step.after = path;
  if (!now) {
    step.state = StepState::parked;
    step.reason = now.error().message;
  } else if (*now && **now == text) {
    step.before = path;
    step.reason = path;
  } else if (!situation.etc_belongs_to.empty()) {
    step.state = StepState::refused;
    step.reason = "/etc belongs to " + situation.etc_belongs_to + ": say it there";
  } else {
    step.state = StepState::todo;
    step.changes = {{Change::Kind::file, path, text}};
  }
  return step;
}

Result<Plan> make_plan(const Machine& machine, const Wanted& wanted, Risk allowed) {
  const auto modules = TRY(ModuleIndex::read(machine));
  const Situation situation{machine, wanted, modules, owner_of_etc(*machine.host)};
  Plan plan;
  for (const auto& plan_steps : kSubjects) plan_steps(situation, plan);
  for (auto& step : plan) {
    if (step.state != StepState::todo || step.risk <= allowed) continue;
    step.state = StepState::refused;
    step.reason = "needs --allow " + std::string(to_string(step.risk));
  }
  return plan;
}

}  // namespace railhead::setup
