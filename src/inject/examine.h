// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "container/facts.h"
#include "container/request.h"
#include "inject/decide.h"
#include "inject/kubelet_answer.h"

namespace railhead::inject {

/// Finds out what a container is, as though there were no kubelet to ask. The only derivation:
/// whoever wants to know something about a container takes it from here. Pure.
container::Facts examine(const container::Request& request, const DecisionTable& table);

/// The kubelet has answered which GPUs the container holds: these are replaced in `facts`, and all
/// that follows from them. `facts` is what examine() returned for this request and table.
void take_kubelet_answer(const KubeletAnswer& answer, const container::Request& request,
                         const DecisionTable& table, container::Facts& facts);
/// The same with what gpus_of() makes of the answer.
void take_gpus(container::GpuFacts gpus, container::Facts& facts);

/// The same for a container that holds exactly these GPUs, whatever the request shows.
container::Facts examine_holding(std::vector<std::size_t> gpus, const container::Request& request,
                                 const DecisionTable& table);

/// True where a table of another machine could change the decision on a container with these facts:
/// false where it has and asks for nothing that a machine could have.
bool needs_machine(const container::Facts& facts, const container::Request& request);

/// True where the kubelet's answer would change the decision on a container with these facts.
bool needs_kubelet(const container::Facts& facts, const DecisionTable& table);

}  // namespace railhead::inject
