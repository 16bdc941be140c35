// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "container/request.h"
#include "inject/decide.h"

namespace railhead {

/// What a container holds of this node's pools: our Allocate has put it into the container's
/// annotations, `allocation.railhead.io/<resource>` with the ids of functions. Lists of NICs are
/// indices into the node, sorted.
struct Allocations {
  std::vector<std::size_t> pools;      ///< indices into DecisionTable::pools().pools
  std::vector<std::size_t> exclusive;  ///< allocated from exclusive pools
  std::vector<std::size_t> admitted;   ///< all NICs of the shared pools that it holds slots of
  std::vector<std::size_t> slots;      ///< of slots that are a NIC, that NIC; of others all
  std::vector<std::string> gone;       ///< functions of exclusive pools that this node has no more
  std::vector<std::string> devices;    ///< classes that these pools hand out beside the policy's
  std::vector<Remark> remarks;

  [[nodiscard]] bool any() const { return !pools.empty(); }
};

/// An annotation that also stands on the pod is the pod author's: ignored and reported, as is one
/// of a resource that no pool of this node offers.
Allocations allocations_of(const ContainerRequest& request, const DecisionTable& table);

/// The key that Allocate sets; with two slashes, which the API server refuses on a pod.
std::string allocation_key(std::string_view resource);

}  // namespace railhead
