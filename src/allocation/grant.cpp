// SPDX-License-Identifier: Apache-2.0
#include "allocation/grant.h"

#include <numeric>

#include "allocation/cdi_spec.h"
#include "allocation/grant_variables.h"
#include "allocation/handed_nodes.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "inject/allocations.h"

namespace railhead::allocation {
namespace {

Error empty_pool(const pools::Pool& pool) {
  return Error{ErrorCode::unavailable, "no NIC of this node is in " + pool.spec.name};
}

/// Why a function of an exclusive pool cannot be handed out although it was allocated.
Error not_there(const inject::DecisionTable& table, std::size_t pool, const std::string& id) {
  const auto what =
      in_quotes(id, pools::kMaxDeviceIdLength) + " of " + table.pools().pools[pool].spec.name;
  const auto function = table.pools().find_function(id);
  if (!function) return Error{ErrorCode::unavailable, what + " is not on this node any more"};
  return Error{ErrorCode::unavailable,
               what + " is not in it any more: " + table.why_not_in(pool, *function)};
}

/// A move into another network namespace makes new nodes; while it goes on there are none.
Status nodes_are_known(const inject::DecisionTable& table, const pools::Pool& pool,
                       const pools::Member& member) {
  const auto& function = table.pools().functions[member.function];
  if (!pool.spec.include[member.selector].rdma) return {};
  for (const auto nic : function.nics) {
    const auto& own = table.node().nics[nic];
    if (!own.elsewhere || !own.uverbs.empty()) return {};
  }
  if (function.nics.empty()) return {};
  return Error{ErrorCode::unavailable,
               in_quotes(function.id, pools::kMaxDeviceIdLength) + " of " + pool.spec.name +
                   " is on its way into another network namespace: its RDMA device has no nodes"};
}

std::vector<std::string> function_ids(const inject::DecisionTable& table, const pools::Pool& pool,
                                      const std::vector<std::size_t>& members) {
  std::vector<std::string> ids;
  for (const auto m : members) ids.push_back(table.pools().functions[pool.members[m].function].id);
  return ids;
}

void add_specs(const std::vector<HandedNode>& nodes, kubelet::Grant& grant) {
  for (const auto& node : nodes) grant.devices.push_back({node.host_path, node.container_path});
}

}  // namespace

Result<std::vector<std::size_t>> members_held(const inject::DecisionTable& table, std::size_t pool,
                                              const std::vector<std::string>& ids) {
  const pools::Pool& asked = table.pools().pools[pool];
  std::vector<std::size_t> held;
  if (pools::is_fungible(asked)) {
    if (asked.members.empty()) return empty_pool(asked);
    held.resize(asked.members.size());
    std::iota(held.begin(), held.end(), 0U);
    return held;
  }
  for (const auto& id : ids) {
    const auto member = pools::member_of_device(table.pools(), asked, id);
    if (!member) return not_there(table, pool, id);
    TRY_STATUS(nodes_are_known(table, asked, asked.members[*member]));
    held.push_back(*member);
  }
  sort_unique(held);
  return held;
}

Result<kubelet::Grant> grant_of(const inject::DecisionTable& table, std::size_t pool,
                                const std::vector<std::string>& ids, config::HandOut hand_out) {
  const pools::Pool& asked = table.pools().pools[pool];
  const auto members = TRY(members_held(table, pool, ids));
  kubelet::Grant grant;
  grant.env = grant_variables(table, asked, members, ids.size());
  switch (hand_out) {
    case config::HandOut::nri:
      grant.annotations[inject::allocation_key(asked.spec.name)] =
          join(function_ids(table, asked, members), ",");
      add_specs(TRY(other_nodes(table, asked, members)), grant);
      break;
    case config::HandOut::device_specs:
      add_specs(rdma_nodes(table, asked, members), grant);
      add_specs(TRY(other_nodes(table, asked, members)), grant);
      break;
    case config::HandOut::cdi: grant.cdi_devices = TRY(cdi_names(table, asked, members)); break;
  }
  return grant;
}

}  // namespace railhead::allocation
