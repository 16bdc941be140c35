// SPDX-License-Identifier: Apache-2.0
#include "inject/examine.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "container/job_size.h"
#include "inject/allocations.h"
#include "inject/annotations.h"
#include "inject/codes.h"
#include "inject/device_requests.h"
#include "inject/gpus_of.h"
#include "inject/rdma_devices.h"
#include "inject/surroundings.h"
#include "inject/transports_of.h"

namespace railhead::inject {
namespace {

container::Identity identity_of(const container::Request& request) {
  return {std::string(request.pod_namespace), std::string(request.pod_name),
          std::string(request.pod_uid), std::string(request.id), std::string(request.name)};
}

/// Pod forms reach only containers with GPUs or our resources; devices that are asked for so are
/// reported.
void drop_what_does_not_reach(container::Facts& facts) {
  if (facts.gpus.named || facts.allocated.any()) return;
  container::Wishes& wishes = facts.wishes;
  const auto is_pod_form = [](const auto& wish) {
    return wish && wish->form == container::AnnotationForm::pod;
  };
  if (is_pod_form(wishes.devices)) {
    if (!facts.asked.empty()) {
      wishes.remarks.add(warn::kAnnotationRefused,
                         in_quotes(wishes.devices->key, 128) +
                             " reaches only containers that hold GPUs or a resource of this node");
    }
    facts.asked.clear();
  }
  container::for_each_wish(wishes, [&](auto& wish) {
    if (is_pod_form(wish)) wish.reset();
  });
}

container::Facts examine_with(container::GpuFacts gpus, container::Surroundings surroundings,
                              const container::Request& request, const DecisionTable& table) {
  container::Facts facts{.identity = identity_of(request),
                         .surroundings = surroundings,
                         .gpus = std::move(gpus),
                         .allocated = allocations_of(request, table),
                         .wishes = read_annotations(request, table.policy().annotations),
                         .asked = {},
                         .job = container::job_size(request.env),
                         .present = {},
                         .off_rdma = {}};
  if (facts.wishes.devices) {
    facts.asked = asked_nics(*facts.wishes.devices, table, facts.wishes.remarks);
  }
  drop_what_does_not_reach(facts);
  if (!surroundings.privileged) facts.present = present_rdma(request, table);
  facts.off_rdma = transports_of(request, surroundings, table, facts.present.nics).off_rdma();
  return facts;
}

}  // namespace

container::Facts examine(const container::Request& request, const DecisionTable& table) {
  const auto surroundings = surroundings_of(request, table.policy());
  return examine_with(gpus_of(request, table, surroundings.privileged, KubeletAnswer{}),
                      surroundings, request, table);
}

// Who has a claim counts as a container with GPUs until the kubelet denies it, so that nothing was
// dropped before that does reach the container now.
void take_gpus(container::GpuFacts gpus, container::Facts& facts) {
  facts.gpus = std::move(gpus);
  drop_what_does_not_reach(facts);
}

void take_kubelet_answer(const KubeletAnswer& answer, const container::Request& request,
                         const DecisionTable& table, container::Facts& facts) {
  if (facts.gpus.claim == container::GpuClaim::none ||
      answer.state == KubeletAnswer::State::no_kubelet)
    return;
  take_gpus(gpus_of(request, table, facts.surroundings.privileged, answer), facts);
}

container::Facts examine_holding(std::vector<std::size_t> gpus, const container::Request& request,
                                 const DecisionTable& table) {
  container::GpuFacts held;
  held.indices = std::move(gpus);
  held.source = container::GpuSource::device_nodes;
  held.named = !held.indices.empty();
  std::sort(held.indices.begin(), held.indices.end());
  return examine_with(std::move(held), surroundings_of(request, table.policy()), request, table);
}

bool needs_machine(const container::Facts& facts, const container::Request& request) {
  const auto& gpus = facts.gpus;
  const auto& allocated = facts.allocated;
  return gpus.named || gpus.asks_for_all || gpus.might_be_new() ||
         gpus.claim != container::GpuClaim::none || allocated.any() || !allocated.remarks.empty() ||
         !allocated.copied.empty() || !facts.wishes.empty() || !request.devices.empty() ||
         gpus.names_cdi_devices;
}

bool needs_kubelet(const container::Facts& facts, const DecisionTable& table) {
  if (facts.gpus.claim == container::GpuClaim::none) return false;
  return table.policy().gpus != config::GpuPolicy::none || facts.allocated.any() ||
         !facts.wishes.empty();
}

}  // namespace railhead::inject
