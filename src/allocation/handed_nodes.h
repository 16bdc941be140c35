// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inject/decide.h"

namespace railhead::allocation {

/// A device node that an allocation brings along, with access "rw".
struct HandedNode {
  std::string host_path;
  std::string container_path;
  /// Numbers, mode and owner; absent where only the runtime, on the host, can tell them.
  std::optional<container::NewDevice> facts;

  friend bool operator==(const HandedNode&, const HandedNode&) = default;
};

/// uverbs, rdma_cm and what else the pool lists, of members that are selected for RDMA. Each path
/// once.
std::vector<HandedNode> rdma_nodes(const inject::DecisionTable& table, const pools::Pool& pool,
                                   const std::vector<std::size_t>& members);

/// The nodes of inject/function_nodes.h, whose numbers the runtime looks up. Each path once. Fails
/// as numbered_nodes().
Result<std::vector<HandedNode>> other_nodes(const inject::DecisionTable& table,
                                            const pools::Pool& pool,
                                            const std::vector<std::size_t>& members);

}  // namespace railhead::allocation
