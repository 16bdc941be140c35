// SPDX-License-Identifier: Apache-2.0
#include "inject/decide.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "inject/annotations.h"
#include "inject/codes.h"
#include "inject/copied_annotations.h"
#include "inject/device_requests.h"
#include "inject/environment.h"
#include "inject/gpus_of.h"
#include "inject/memlock.h"
#include "inject/nics_of.h"
#include "inject/rdma_devices.h"
#include "inject/surroundings.h"
#include "inject/topology_file.h"

namespace railhead {
namespace {

/// A decision before `required` has had its word.
struct Draft {
  Decision decision;
  std::string_view unmet_reason;  ///< code; not empty: a container with `required` must not start
  std::string unmet;              ///< for people, what it lacks
};

void append(std::vector<Remark>& to, std::vector<Remark>&& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

Draft nothing(std::string_view reason, std::string why) {
  Draft draft;
  draft.decision.reason_code = reason;
  draft.decision.message = why;
  draft.unmet_reason = reason;
  draft.unmet = std::move(why);
  return draft;
}

/// Whether the container form of an annotation makes a container an RDMA container. A memlock wish
/// names no NIC and does not.
bool is_named(const Wishes& wishes, const std::vector<std::size_t>& asked) {
  const auto by_container = [](const auto& wish) {
    return wish && wish->form == AnnotationForm::container;
  };
  return (by_container(wishes.rdma) && wishes.rdma->value != RdmaWish::none) ||
         by_container(wishes.nics) || (by_container(wishes.devices) && !asked.empty());
}

Basis basis_of(const Case& of) {
  const InjectionPolicy& policy = of.table.policy();
  if (of.allocated.any()) return Basis::resource;
  if (!of.held.gpus.empty() && policy.gpus != GpuPolicy::none) return Basis::gpus;
  if (policy.annotations == AnnotationPolicy::allow && is_named(of.wishes, of.asked)) {
    return Basis::annotation;
  }
  return Basis::none;
}

/// Pod forms reach only containers with GPUs or our resources; devices that are asked for so are
/// reported.
void drop_what_does_not_reach(Case& of) {
  if (!of.held.gpus.empty() || of.allocated.any()) return;
  Wishes& wishes = of.wishes;
  const auto is_pod_form = [](const auto& wish) {
    return wish && wish->form == AnnotationForm::pod;
  };
  if (is_pod_form(wishes.rdma)) wishes.rdma.reset();
  if (is_pod_form(wishes.nics)) wishes.nics.reset();
  if (is_pod_form(wishes.memlock)) wishes.memlock.reset();
  if (is_pod_form(wishes.devices)) {
    if (!of.asked.empty()) {
      wishes.remarks.push_back(
          {std::string(warn::kAnnotationRefused),
           quoted(wishes.devices->key, 128) +
               " reaches only containers that hold GPUs or a resource of this node"});
    }
    wishes.devices.reset();
    of.asked.clear();
  }
}

/// Remarks on container forms that had no effect because this is no RDMA container.
void report_unheard(const Case& of, std::vector<Remark>& remarks) {
  const auto report = [&](const auto& wish) {
    if (!wish || wish->form != AnnotationForm::container) return;
    remarks.push_back({std::string(warn::kAnnotationRefused),
                       quoted(wish->key, 128) +
                           " is refused: the container is no RDMA container, and "
                           "annotations make it none here"});
  };
  if (of.wishes.rdma && of.wishes.rdma->value == RdmaWish::preferred) report(of.wishes.rdma);
  report(of.wishes.nics);
  report(of.wishes.memlock);
  if (!of.asked.empty()) report(of.wishes.devices);
}

constexpr std::string_view kNotRdmaText =
    "holds no GPU and no resource, and no annotation makes it get NICs";

Draft not_an_rdma_container(const Case& of) {
  if (of.held.gpus.empty()) {
    std::string why(kNotRdmaText);
    for (const Remark& remark : of.held.remarks) why += "; " + remark.text;
    return nothing(reason::kNotRdma, std::move(why));
  }
  return nothing(reason::kGpusOff, "holds " + gpu_labels(of.table.node(), of.held.gpus) +
                                       ", and --gpus is none on this node");
}

std::string_view success_reason(const Case& of, const NicChoice& choice) {
  if (of.surroundings.privileged) return reason::kPrivileged;
  if (choice.present) return reason::kPresent;
  if (of.basis == Basis::resource) return reason::kResource;
  return of.basis == Basis::gpus ? reason::kGpus : reason::kAnnotation;
}

/// "rdma.io/hca and GPUs 0, 1 (device nodes)"
std::string what_it_holds(const Case& of) {
  std::vector<std::string> parts;
  for (const auto pool : of.allocated.pools) {
    parts.push_back(of.table.pools().pools[pool].spec.name);
  }
  if (!of.held.gpus.empty()) {
    parts.push_back(gpu_labels(of.table.node(), of.held.gpus) + " (" +
                    std::string(to_string(of.held.source)) + ")");
  }
  return parts.empty() ? "named by an annotation" : join(parts, " and ");
}

std::string describe(const Case& of, const NicChoice& choice, const Adjustment& adjustment) {
  const Node& node = of.table.node();
  std::string text = what_it_holds(of);
  text += choice.nics.empty() ? " -> no NIC of this node" : " -> " + nic_names(node, choice.nics);
  if (choice.present) text += " (there already)";
  if (adjustment.empty()) return text + "; nothing to add";
  if (adjustment.memlock_bytes) text += "; memlock " + memlock_text(*adjustment.memlock_bytes);
  for (const auto& variable : adjustment.env) text += "; " + variable.first;
  return text;
}

/// Whether at least one NIC of the choice can carry traffic now.
bool has_usable(const Case& of, const NicChoice& choice) {
  return std::any_of(choice.nics.begin(), choice.nics.end(), [&](std::size_t nic) {
    return of.basis == Basis::resource ? of.table.trouble_of(nic).empty()
                                       : of.table.usable()[nic].usable;
  });
}

Draft give(const Case& of, NicChoice choice, const RuntimeAbility& runtime) {
  Draft draft;
  Decision& decision = draft.decision;
  decision.gpus = of.held.gpus;
  decision.nics = choice.nics;
  const auto& asked = of.wishes.memlock;
  MemlockPlan memlock = plan_memlock(of.request, asked ? std::optional(asked->value) : std::nullopt,
                                     of.table.policy(), runtime);
  if (!choice.present && !of.surroundings.privileged) {
    decision.adjustment.devices = devices_to_add(
        of.request, of.table, choice.nics, device_classes(of.table.policy(), of.allocated.devices));
  }
  decision.adjustment.env = environment_for(of.request, of.table, choice.nics, choice.per_gpu);
  if (!of.held.gpus.empty() && !of.surroundings.privileged) {
    add_topology_file(of.request, of.table, decision.adjustment);
  }
  decision.adjustment.memlock_bytes = memlock.set;
  const bool empty = decision.adjustment.empty();
  decision.outcome = empty ? Outcome::untouched : Outcome::adjusted;
  decision.reason_code = empty ? reason::kComplete : success_reason(of, choice);
  decision.message = describe(of, choice, decision.adjustment);
  if (!has_usable(of, choice)) {
    draft.unmet_reason = reason::kNoUsableNic;
    draft.unmet = "none of its NICs is usable";
  } else if (choice.stand_in) {
    draft.unmet_reason = reason::kStandIn;
    draft.unmet = *choice.stand_in;
  } else if (memlock.short_of) {
    draft.unmet_reason = reason::kMemlockShort;
    draft.unmet = *memlock.short_of;
  }
  append(decision.remarks, std::move(choice.remarks));
  append(decision.remarks, std::move(memlock.remarks));
  return draft;
}

Draft draft_for(const Case& of, const RuntimeAbility& runtime) {
  if (of.basis == Basis::none) {
    Draft draft = not_an_rdma_container(of);
    report_unheard(of, draft.decision.remarks);
    return draft;
  }
  if (of.wishes.rdma && of.wishes.rdma->value == RdmaWish::none) {
    return nothing(reason::kOptedOut, quoted(of.wishes.rdma->key, 128) + " is none");
  }
  if (of.surroundings.vm) {
    return nothing(reason::kVmRuntime, "runtime handler " + quoted(of.request.runtime_handler) +
                                           " starts a virtual machine");
  }
  NicChoice choice = choose_nics(of);
  if (choice.nics.empty() && (!choice.present || !choice.empty_reason.empty())) {
    Draft draft = nothing(choice.empty_reason, std::move(choice.empty_why));
    draft.decision.gpus = of.held.gpus;
    append(draft.decision.remarks, std::move(choice.remarks));
    return draft;
  }
  return give(of, std::move(choice), runtime);
}

Case examine(const ContainerRequest& request, const DecisionTable& table, HeldGpus held) {
  Case of{request, table, surroundings_of(request, table.policy()), {}, {}, {}, {}, Basis::none};
  of.allocated = allocations_of(request, table);
  of.held = std::move(held);
  of.wishes = read_annotations(request, table.policy().annotations);
  if (of.wishes.devices) of.asked = asked_nics(*of.wishes.devices, table, of.wishes.remarks);
  drop_what_does_not_reach(of);
  of.basis = basis_of(of);
  return of;
}

Case examine(const ContainerRequest& request, const DecisionTable& table, GpuClaim claim) {
  return examine(request, table, gpus_of(request, table, is_privileged(request), claim));
}

/// One line for the kubelet to show: who, and why not.
void refuse(const Case& of, Draft& draft) {
  Decision& decision = draft.decision;
  decision.outcome = Outcome::refused;
  decision.reason_code = draft.unmet_reason;
  decision.message = "railhead: container " + quoted(of.request.name) +
                     " is not started, because " + quoted(of.wishes.rdma->key, 128) +
                     " is required and not met: " + draft.unmet;
  decision.adjustment = {};
}

Decision conclude(Case of, const RuntimeAbility& runtime) {
  std::vector<Remark> remarks = std::move(of.wishes.remarks);
  append(remarks, std::move(of.allocated.remarks));
  Draft draft = draft_for(of, runtime);
  append(remarks, std::move(of.held.remarks));
  append(remarks, std::move(draft.decision.remarks));
  draft.decision.remarks = std::move(remarks);
  const auto& wish = of.wishes.rdma;
  if (wish && wish->value == RdmaWish::required && !draft.unmet_reason.empty()) refuse(of, draft);
  return std::move(draft.decision);
}

}  // namespace

Decision decide(const ContainerRequest& request, const DecisionTable& table,
                const RuntimeAbility& runtime, GpuClaim claim) {
  return conclude(examine(request, table, claim), runtime);
}

Decision decide_holding(std::vector<std::size_t> gpus, const ContainerRequest& request,
                        const DecisionTable& table, const RuntimeAbility& runtime) {
  HeldGpus held{std::move(gpus), GpuSource::device_nodes, {}};
  std::sort(held.gpus.begin(), held.gpus.end());
  return conclude(examine(request, table, std::move(held)), runtime);
}

bool needs_gpu_claim(const ContainerRequest& request, const DecisionTable& table) {
  const InjectionPolicy& policy = table.policy();
  if (!environment_alone_names_gpus(request, table, is_privileged(request))) return false;
  return policy.gpus != GpuPolicy::none || !read_annotations(request, policy.annotations).empty();
}

std::vector<std::string> missing_devices(const ContainerRequest& request,
                                         const DecisionTable& table, const RuntimeAbility& runtime,
                                         GpuClaim claim) {
  const Draft draft = draft_for(examine(request, table, claim), runtime);
  std::vector<std::string> out;
  for (const NewDevice& device : draft.decision.adjustment.devices) out.push_back(device.path);
  return out;
}

}  // namespace railhead
