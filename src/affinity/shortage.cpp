// SPDX-License-Identifier: Apache-2.0
#include "affinity/shortage.h"

#include <algorithm>

#include "base/text.h"
#include "node/unread.h"

namespace railhead::affinity {

std::size_t nics_of_type(const Deal& deal) {
  return static_cast<std::size_t>(
      std::ranges::count_if(deal.roles, [](const RoleDecision& decision) {
        return decision.role == Role::compute || decision.role == Role::unused ||
               decision.by_operator;
      }));
}

std::string shortage_text(const node::Node& node, const topology::Topology& topology,
                          const Deal& deal) {
  const auto found = nics_of_type(deal);
  if (found >= topology.machine_nics || node::unread_nic(node) != nullptr) return "";
  return topology.machine + " has " + counted(topology.machine_nics, "compute NIC") +
         ", of which " + std::to_string(found) + (found == 1 ? " is here" : " are here");
}

}  // namespace railhead::affinity
