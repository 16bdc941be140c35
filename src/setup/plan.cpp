// SPDX-License-Identifier: Apache-2.0
#include "setup/plan.h"

#include <algorithm>

#include "base/contains.h"
#include "base/text.h"
#include "setup/journal.h"
#include "setup/link_control.h"

namespace railhead::setup {
namespace {

using PlanSteps = void (*)(const Situation& situation, Plan& plan);

constexpr PlanSteps kSubjects[] = {
    plan_modules,   plan_rdma_namespaces, plan_sriov,  plan_link,
    plan_sysctl,    plan_memlock,         plan_nri,    plan_nfs,
    plan_gpudirect, plan_kubelet,         plan_others, plan_restarts,
};

using system::Part;

/// What the plan goes by, as the doctor reads it.
constexpr Part kParts = Part::modules | Part::services | Part::runtime | Part::pci_config |
                        Part::gpu_driver | Part::nfs;

/// The machine-config daemon keeps what it wrote there, and takes back what others change
/// (openshift/machine-config-operator, docs/MachineConfigDaemon.md).
std::string owner_of_etc(host::Host& host) {
  const bool has_daemon = has_folder(host, "/etc/machine-config-daemon");
  return has_daemon ? "OpenShift's machine-config operator" : "";
}

Step without_changes(Step step, StepState state, std::string reason) {
  step.state = state;
  step.reason = std::move(reason);
  step.changes.clear();
  return step;
}

/// Why a file is not made or changed at this path: the journal would not name it. "": it is.
std::string why_not_there(host::Host& host, const std::string& path) {
  if (!may_change_file(path)) return path + ": setup changes no file of this name at such a place";
  for (auto at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string folder = path.substr(0, at);
    if (!may_make_folder(folder) && !has_folder(host, folder))
      return path + ": there is no folder " + folder + ", and setup makes none there";
  }
  return "";
}

/// `systemctl daemon-reload` has systemd write the device rules of each scope anew, without GPUs
/// that a hook added to it (NVIDIA/nvidia-container-toolkit#1227, #48).
bool reloads_systemd(const Change& change) {
  return change.kind == Change::Kind::service || change.kind == Change::Kind::unit;
}

/// What its changes cost.
void add_costs(const Situation& situation, Step& step) {
  for (const auto& change : step.changes) step.risk = std::max(step.risk, risk_of(change));
  const bool has_nvidia = !text_of(*situation.machine.host, "/proc/driver/nvidia/version").empty();
  if (!has_nvidia || std::ranges::none_of(step.changes, reloads_systemd)) return;
  step.reason += std::string(step.reason.empty() ? "" : "; ") +
                 "systemctl daemon-reload can take GPUs from running containers that do not have "
                 "them by CDI";
}

}  // namespace

std::string_view to_string(Risk risk) {
  return risk == Risk::live ? "R1" : risk == Risk::restart ? "R2" : "R4";
}

Risk risk_of(const Change& change) {
  if (reloads_systemd(change)) return Risk::restart;
  if (change.kind == Change::Kind::link)
    return risk_of_link(change.subject.substr(change.subject.find('/') + 1));
  return Risk::live;
}

std::string_view to_string(StepState state) {
  constexpr std::string_view kNames[] = {"todo", "done", "refused", "parked"};
  return kNames[static_cast<std::size_t>(state)];
}

bool waits_for_restart(const Step& step) {
  return step.state == StepState::parked && !step.after.empty() && step.before == step.after;
}

Step refused(Step step, std::string reason) {
  return without_changes(std::move(step), StepState::refused, std::move(reason));
}

Step parked(Step step, std::string reason) {
  return without_changes(std::move(step), StepState::parked, std::move(reason));
}

Step files_step(const Situation& situation, Step step, const std::vector<FileText>& files,
                const std::string& overruler) {
  std::vector<std::string> paths;
  for (const auto& file : files) {
    // Read as apply will read it.
    const auto content = situation.machine.tree->find(file.path);
    if (!content) return parked(std::move(step), content.error().message);
    const auto now = *content ? std::optional((*content)->bytes) : std::nullopt;
    paths.push_back(file.path);
    if (file.edited && now != file.edited)
      return parked(std::move(step), file.path + ": somebody changes it: plan again");
    if (now != file.text)
      step.changes.push_back({Change::Kind::file, file.path, file.text, false, now});
  }
  if (step.after.empty()) step.after = join(paths, ", ");
  if (step.changes.empty() && !overruler.empty() && !contains(paths, overruler)) {
    return refused(std::move(step),
                   overruler + " says otherwise, and counts more than " + join(paths, ", "));
  }
  if (step.changes.empty()) {
    step.before = step.after;
    step.reason = join(paths, ", ");
    return step;
  }
  if (!situation.etc_belongs_to.empty()) {
    return refused(std::move(step), "/etc belongs to " + situation.etc_belongs_to +
                                        ": railhead setup machine-config prints what to say there");
  }
  for (const auto& change : step.changes) {
    std::string why = why_not_there(*situation.machine.host, change.subject);
    if (!why.empty()) return refused(std::move(step), std::move(why));
  }
  step.state = StepState::todo;
  return step;
}

Step live_step(const Situation& situation, Step step, const std::string& path, std::string reason,
               Change change) {
  if (step.before != step.after)
    return kernel_step(situation, std::move(step), std::move(reason), std::move(change));
  step.reason = path;
  return step;
}

Step kernel_step(const Situation& situation, Step step, std::string reason, Change change) {
  if (!situation.machine.is_live)
    return parked(std::move(step), "no kernel runs in this tree: apply it on the machine");
  step.state = StepState::todo;
  step.reason = std::move(reason);
  step.changes = {std::move(change)};
  return step;
}

bool has_systemd(const Situation& situation) {
  return has_folder(*situation.machine.host, "/run/systemd/system");
}

bool has_gpu_operator_driver(const Situation& situation) {
  const auto names = situation.system.folder("/run/nvidia/validations").value;
  return names && contains(*names, ".driver-ctr-ready");
}

Result<Plan> make_plan(const Machine& machine, const Wanted& wanted, Risk allowed) {
  if (!why_skipped(machine, wanted).empty()) return Plan();
  const auto modules = TRY(ModuleIndex::read(machine));
  const auto node = node::read_node(*machine.host);
  const auto system = system::read_system(*machine.host, node, kParts);
  const Situation situation{machine, wanted, modules, node, system, owner_of_etc(*machine.host)};
  Plan plan;
  for (const auto& plan_steps : kSubjects) plan_steps(situation, plan);
  for (auto& step : plan) {
    add_costs(situation, step);
    if (step.state != StepState::todo || step.risk <= allowed) continue;
    step.state = StepState::refused;
    step.reason = "needs --allow " + std::string(to_string(step.risk)) +
                  (step.reason.empty() ? "" : ": " + step.reason);
  }
  return plan;
}

}  // namespace railhead::setup
