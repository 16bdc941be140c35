// SPDX-License-Identifier: Apache-2.0
#include "inject/decide.h"

#include <algorithm>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "inject/codes.h"
#include "inject/environment.h"
#include "inject/examine.h"
#include "inject/function_nodes.h"
#include "inject/gpus_of.h"
#include "inject/memlock.h"
#include "inject/nics_of.h"
#include "inject/rdma_devices.h"
#include "inject/topology_file.h"
#include "inject/transports_of.h"

namespace railhead::inject {
namespace {

/// A decision before `required` has had its word.
struct Draft {
  Decision decision;  ///< without its remarks
  container::Remarks remarks;
  std::string_view unmet_reason;  ///< code; not empty: a container with `required` must not start
  std::string unmet;              ///< for people, what it lacks
  /// The kubelet has counted a device for it that it would not get: a start would be a silent loss.
  bool breaks_promise = false;
};

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
bool is_named(const container::Wishes& wishes, const std::vector<std::size_t>& asked) {
  const auto by_container = [](const auto& wish) {
    return wish && wish->form == container::AnnotationForm::container;
  };
  return (by_container(wishes.rdma) && wishes.rdma->value != container::RdmaWish::none) ||
         by_container(wishes.nics) || (by_container(wishes.devices) && !asked.empty());
}

Basis basis_of(const container::Facts& facts, const InjectionPolicy& policy) {
  if (facts.allocated.any()) return Basis::resource;
  if (!facts.gpus.indices.empty() && policy.gpus != config::GpuPolicy::none) return Basis::gpus;
  if (policy.annotations == config::AnnotationPolicy::allow &&
      is_named(facts.wishes, facts.asked)) {
    return Basis::annotation;
  }
  return Basis::none;
}

/// Remarks on container forms that had no effect because this is no RDMA container. `none` is
/// obeyed, and `required` refuses it.
void report_unheard(const Case& given, container::Remarks& remarks) {
  if (given.facts.wishes.empty()) return;
  auto unheard = given.facts.wishes;
  if (unheard.rdma && unheard.rdma->value != container::RdmaWish::preferred) unheard.rdma.reset();
  if (given.facts.asked.empty()) unheard.devices.reset();
  container::for_each_wish(unheard, [&](const auto& wish) {
    if (!wish || wish->form != container::AnnotationForm::container) return;
    remarks.add(warn::kAnnotationRefused,
                in_quotes(wish->key, 128) +
                    " is refused: the container is no RDMA container, and "
                    "annotations make it none here");
  });
}

constexpr std::string_view kNotRdmaText =
    "holds no GPU and no resource, and no annotation makes it get NICs";
constexpr std::string_view kUnresolvedText = "holds GPUs, and which ones could not be found out";

Draft not_an_rdma_container(const Case& given) {
  const container::GpuFacts& gpus = given.facts.gpus;
  if (gpus.indices.empty()) {
    std::string why(gpus.named ? kUnresolvedText : kNotRdmaText);
    for (const container::Remark& remark : gpus.remarks) why += "; " + remark.text;
    return nothing(gpus.named ? reason::kGpuUnresolved : reason::kNotRdma, std::move(why));
  }
  return nothing(reason::kGpusOff, "holds " +
                                       gpu_names(given.table.node(), given.facts.gpus.indices) +
                                       ", and --gpus is none on this node");
}

std::string_view success_reason(const Case& given, const NicChoice& choice) {
  if (given.facts.surroundings.privileged) return reason::kPrivileged;
  if (choice.present && choice.to_add.empty()) return reason::kPresent;
  if (given.basis == Basis::resource) return reason::kResource;
  return given.basis == Basis::gpus ? reason::kGpus : reason::kAnnotation;
}

/// "nvidia.com/hostdev and rdma.io/hca"; "" where it holds none
std::string resource_names(const Case& given) {
  std::vector<std::string> names;
  for (const auto pool : given.facts.allocated.pools) {
    names.push_back(given.table.pools().pools[pool].spec.name);
  }
  return join(names, " and ");
}

/// "rdma.io/hca and GPUs 0, 1 (device nodes)"
std::string what_it_holds(const Case& given) {
  const container::GpuFacts& gpus = given.facts.gpus;
  std::string text = given.facts.allocated.any() ? resource_names(given) : "";
  if (!gpus.indices.empty()) {
    if (!text.empty()) text += " and ";
    text += gpu_names(given.table.node(), gpus.indices);
    text += " (";
    text += to_string(gpus.source);
    text += ')';
  }
  return text.empty() ? "named by an annotation" : text;
}

std::string describe(const Case& given, const NicChoice& choice,
                     const container::Adjustment& adjustment) {
  const node::Node& node = given.table.node();
  std::string text = what_it_holds(given);
  text += choice.nics.empty() ? " -> no NIC of this node" : " -> " + nic_names(node, choice.nics);
  if (choice.present) text += choice.to_add.empty() ? " (there already)" : " (some there already)";
  if (adjustment.empty()) return text + "; nothing to add";
  if (adjustment.memlock_bytes) text += "; memlock " + memlock_text(*adjustment.memlock_bytes);
  for (const auto& variable : adjustment.env) text += "; " + variable.first;
  return text;
}

/// Whether at least one NIC of the choice can carry traffic now; where some were allocated, one of
/// these.
bool has_usable(const Case& given, const NicChoice& choice) {
  const auto& nics = given.basis == Basis::resource ? choice.to_add : choice.nics;
  return std::any_of(nics.begin(), nics.end(), [&](std::size_t nic) {
    return given.basis == Basis::resource ? given.table.trouble_of(nic).empty()
                                          : given.table.usable()[nic].usable;
  });
}

/// Each slot of a container brings it nodes, whatever the others bring, unless its own annotation
/// narrows. Notes the first that brings none.
void note_empty_slot(const Case& given, const NicChoice& choice, Draft& draft) {
  const container::Allocations& allocated = given.facts.allocated;
  const auto note = [&draft](std::string_view reason, std::string why) {
    draft.breaks_promise = true;
    draft.unmet_reason = reason;
    draft.unmet = std::move(why);
  };
  if (!allocated.gone.empty()) {
    return note(reason::kAllocationGone, gone_text(allocated.gone.front()));
  }
  if (!allocated.rdma || given.facts.surroundings.privileged) return;
  if (!choice.empty_reason.empty()) return note(choice.empty_reason, choice.empty_why);
  const auto has_node = [&](std::size_t nic) {
    return contains(choice.to_add, nic) && !given.table.node().nics[nic].uverbs.empty();
  };
  const auto note_nodeless = [&](const std::vector<std::size_t>& nics) {
    if (nics.empty())
      return note(reason::kNoUsableNic, "a pool that it holds a slot of has no NIC");
    note(reason::kNoUsableNic,
         nic_names(given.table.node(), nics) + (nics.size() == 1 ? " has" : " have") +
             " no uverbs node: ib_uverbs is not loaded, or the device is on its way into another "
             "network namespace");
  };
  for (const std::size_t nic : allocated.exclusive) {
    if (!has_node(nic)) return note_nodeless({nic});
  }
  if (given.facts.wishes.nics) return;
  for (const container::SharedAllocation& held : allocated.shared) {
    if (std::none_of(held.pool.begin(), held.pool.end(), has_node))
      return note_nodeless(held.slots);
  }
}

Draft give(const Case& given, NicChoice&& choice, const RuntimeAbility& runtime) {
  Draft draft;
  Decision& decision = draft.decision;
  decision.gpus = given.facts.gpus.indices;
  const auto& asked = given.facts.wishes.memlock;
  const MemlockPlan memlock =
      plan_memlock(given.request, asked ? std::optional(asked->value) : std::nullopt,
                   given.table.policy(), runtime);
  if (!given.facts.surroundings.privileged) {
    decision.adjustment.devices =
        devices_to_add(given.request, given.table, choice.to_add,
                       device_classes(given.table.policy(), given.facts.allocated.devices));
  }
  decision.adjustment.env =
      environment_for(given.request, given.table, choice.to_name, choice.per_gpu);
  if (runtime.has_topology_file && !given.facts.gpus.indices.empty() &&
      !given.facts.surroundings.privileged) {
    add_topology_file(given.request, given.table, decision.adjustment);
  }
  decision.adjustment.memlock_bytes = memlock.set;
  const bool empty = decision.adjustment.empty();
  decision.outcome = empty ? Outcome::untouched : Outcome::adjusted;
  decision.reason_code = empty ? reason::kComplete : success_reason(given, choice);
  decision.message = describe(given, choice, decision.adjustment);
  const auto reading =
      transports_of(given.request, given.facts.surroundings, given.table, choice.nics);
  decision.off_rdma = reading.off_rdma();
  if (!choice.empty_reason.empty()) {
    draft.unmet_reason = choice.empty_reason;
    draft.unmet = choice.empty_why;
  } else if (!has_usable(given, choice)) {
    draft.unmet_reason = reason::kNoUsableNic;
    draft.unmet = "none of its NICs is usable";
  } else if (choice.stand_in) {
    draft.unmet_reason = reason::kStandIn;
    draft.unmet = *choice.stand_in;
  } else if (const auto* obstacle = reading.obstacle()) {
    draft.unmet_reason = reason::kEnvironment;
    draft.unmet = obstacle->text;
  } else if (choice.slow) {
    draft.unmet_reason = reason::kNicSlow;
    draft.unmet = *choice.slow;
  } else if (memlock.short_of) {
    draft.unmet_reason = reason::kMemlockShort;
    draft.unmet = *memlock.short_of;
  }
  note_empty_slot(given, choice, draft);
  draft.remarks.append(choice.remarks);
  for (const auto& one : reading.contradictions) draft.remarks.add(warn::kEnvironment, one.text);
  draft.remarks.append(memlock.remarks);
  decision.nics = std::move(choice.nics);
  return draft;
}

Draft rdma_draft(const Case& given, const RuntimeAbility& runtime) {
  if (given.basis == Basis::none) {
    Draft draft = not_an_rdma_container(given);
    report_unheard(given, draft.remarks);
    return draft;
  }
  if (given.facts.wishes.rdma && given.facts.wishes.rdma->value == container::RdmaWish::none) {
    return nothing(reason::kOptedOut, in_quotes(given.facts.wishes.rdma->key, 128) + " is none");
  }
  const container::Allocations& allocated = given.facts.allocated;
  const bool holds_something = allocated.rdma || !allocated.gone.empty();
  if (given.facts.surroundings.vm) {
    Draft draft =
        nothing(reason::kVmRuntime, "runtime handler " + in_quotes(given.request.runtime_handler) +
                                        " gives its containers a kernel of their own");
    draft.breaks_promise = holds_something;
    return draft;
  }
  NicChoice choice = choose_nics(given);
  if (choice.nics.empty() && (!choice.present || !choice.empty_reason.empty())) {
    Draft draft = nothing(choice.empty_reason, std::move(choice.empty_why));
    draft.decision.gpus = given.facts.gpus.indices;
    draft.remarks.append(choice.remarks);
    draft.breaks_promise = holds_something;
    return draft;
  }
  return give(given, std::move(choice), runtime);
}

bool has_device(const container::Request& request, const container::Adjustment& adjustment,
                std::string_view path) {
  const auto is_it = [&](const auto& device) { return device.path == path; };
  return std::any_of(request.devices.begin(), request.devices.end(), is_it) ||
         std::any_of(adjustment.devices.begin(), adjustment.devices.end(), is_it);
}

/// Nodes of allocated functions that are no RDMA devices, whatever becomes of RDMA. A kernel of the
/// container's own wants them, too: that is how a function gets there.
void add_function_devices(const Case& given, Draft& draft) {
  if (given.facts.surroundings.privileged) return;
  Decision& decision = draft.decision;
  std::vector<std::string> added;
  for (const auto& [pool, members] : given.facts.allocated.functions) {
    auto devices = numbered_devices(given.table, given.table.pools().pools[pool], members);
    if (!devices) {
      draft.unmet_reason = reason::kAllocationGone;
      draft.unmet = devices.error().message;
      draft.breaks_promise = true;
      return;
    }
    for (auto& device : *devices) {
      if (has_device(given.request, decision.adjustment, device.path)) continue;
      added.push_back(device.path);
      decision.adjustment.devices.push_back(std::move(device));
    }
  }
  if (added.empty()) return;
  if (decision.outcome == Outcome::untouched) {
    decision.outcome = Outcome::adjusted;
    decision.reason_code = reason::kResource;
    decision.message = what_it_holds(given) + " -> " + join(added, ", ");
  } else {
    decision.message += "; " + join(added, ", ");
  }
}

/// GDRCopy's node, whatever becomes of RDMA: it maps memory of GPUs that the container has. Outcome
/// and reason stay those of RDMA.
void add_gdrdrv(const Case& given, Draft& draft) {
  const auto& device = given.table.node().gdrdrv;
  const auto& gpus = given.facts.gpus.indices;
  const auto& surroundings = given.facts.surroundings;
  if (!given.table.policy().gdrcopy || !device || surroundings.privileged || surroundings.vm)
    return;
  const bool has_nvidia = std::any_of(gpus.begin(), gpus.end(), [&](std::size_t gpu) {
    return given.table.node().gpus[gpu].vendor == gpu::GpuVendor::nvidia;
  });
  Decision& decision = draft.decision;
  if (!has_nvidia || has_device(given.request, decision.adjustment, device->path)) return;
  decision.adjustment.devices.push_back(
      {device->path, device->major, device->minor, device->mode, device->uid, device->gid});
  decision.message += "; " + device->path;
}

/// It may hold a slot, and may not: neither nodes nor none would be right.
Draft with_copied_allocation(std::string_view key) {
  return nothing(reason::kAllocationCopied,
                 in_quotes(key, 128) +
                     " also stands in the pod's annotations, and only the "
                     "kubelet may set it: take it off the pod");
}

Draft draft_for(const Case& given, const RuntimeAbility& runtime) {
  const auto& copied = given.facts.allocated.copied;
  if (!copied.empty()) return with_copied_allocation(copied);
  Draft draft = rdma_draft(given, runtime);
  add_function_devices(given, draft);
  return draft;
}

/// Why a container with such a draft must not start; absent: it may.
std::optional<std::string> demand_unmet(const Case& given, const Draft& draft) {
  if (draft.unmet_reason.empty()) return std::nullopt;
  const auto& wish = given.facts.wishes.rdma;
  if (wish && wish->value == container::RdmaWish::required) {
    return in_quotes(wish->key, 128) + " is required and not met: " + draft.unmet;
  }
  if (!given.facts.allocated.copied.empty()) return draft.unmet;
  if (draft.breaks_promise) {
    return "it holds " + resource_names(given) + " and would not get all of that: " + draft.unmet;
  }
  return std::nullopt;
}

/// One line for the kubelet to show: who, and why not.
void refuse(const Case& given, std::string_view why, Draft& draft) {
  Decision& decision = draft.decision;
  decision.outcome = Outcome::refused;
  decision.reason_code = draft.unmet_reason;
  decision.message = "railhead: container " + in_quotes(given.request.name) +
                     " is not started, because " + std::string(why);
  decision.adjustment = {};
}

Case case_of(const container::Request& request, const container::Facts& facts,
             const DecisionTable& table) {
  return {request, facts, table, basis_of(facts, table.policy())};
}

std::vector<container::Remark> finished(container::Remarks remarks) {
  auto out = remarks.take();
  if (remarks.more() > 0) {
    out.push_back({std::string(warn::kRemarksCut),
                   "and " + std::to_string(remarks.more()) + " more remarks on this container"});
  }
  return out;
}

}  // namespace

Decision decide(const container::Request& request, const container::Facts& facts,
                const DecisionTable& table, const RuntimeAbility& runtime) {
  const Case given = case_of(request, facts, table);
  Draft draft = draft_for(given, runtime);
  if (facts.allocated.copied.empty()) add_gdrdrv(given, draft);
  container::Remarks remarks;
  remarks.append(facts.wishes.remarks);
  remarks.append(facts.allocated.remarks);
  remarks.append(facts.gpus.remarks);
  remarks.append(draft.remarks);
  draft.decision.remarks = finished(std::move(remarks));
  if (const auto why = demand_unmet(given, draft)) refuse(given, *why, draft);
  return std::move(draft.decision);
}

Decision decide_holding(std::vector<std::size_t> gpus, const container::Request& request,
                        const DecisionTable& table, const RuntimeAbility& runtime) {
  return decide(request, examine_holding(std::move(gpus), request, table), table, runtime);
}

std::vector<std::string> missing_devices(const container::Request& request,
                                         const container::Facts& facts, const DecisionTable& table,
                                         const RuntimeAbility& runtime) {
  Draft draft = draft_for(case_of(request, facts, table), runtime);
  std::vector<std::string> out;
  for (container::NewDevice& device : draft.decision.adjustment.devices)
    out.push_back(std::move(device.path));
  return out;
}

}  // namespace railhead::inject
