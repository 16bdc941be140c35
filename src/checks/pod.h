// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "checks/check.h"

namespace railhead::checks {

/// The NIC whose uverbs node this is, by its numbers: the index in Node::nics. Absent: of none.
std::optional<std::size_t> nic_of_node(const Machine& machine, const system::ContainerNode& node);

/// The NICs whose uverbs nodes a container has; none where its nodes are not known.
std::vector<std::size_t> given_nics(const Machine& machine, const system::Container& container);

/// GPUs whose nodes it has, as indices in Node::gpus.
std::vector<std::size_t> given_gpus(const Machine& machine, const system::Container& container);

// Rules of pod_checks(): what a container may do, and what it does it with.
void pod_gids(const Machine& machine, Findings& found);
void pod_environment(const Machine& machine, Findings& found);
void pod_front_end(const Machine& machine, Findings& found);
void pod_affinity(const Machine& machine, Findings& found);
void pod_transport(const Machine& machine, Findings& found);

}  // namespace railhead::checks
