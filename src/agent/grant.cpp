// SPDX-License-Identifier: Apache-2.0
#include "agent/grant.h"

#include <algorithm>
#include <unordered_map>

#include "agent/grant_variables.h"
#include "base/text.h"
#include "inject/allocations.h"
#include "inject/rdma_devices.h"

namespace railhead {
namespace {

Error empty_pool(const Pool& pool) {
  return Error{ErrorCode::unavailable, "no NIC of this node is in " + pool.spec.name};
}

std::vector<std::string> function_ids(const DecisionTable& table, const Pool& pool,
                                      const std::vector<std::size_t>& members) {
  std::vector<std::string> ids;
  for (const auto m : members) ids.push_back(table.pools().functions[pool.members[m].function].id);
  return ids;
}

bool wants_vhost(const Pool& pool, const std::vector<std::size_t>& members) {
  return std::any_of(members.begin(), members.end(), [&](std::size_t m) {
    return pool.spec.include[pool.members[m].selector].vhost_net;
  });
}

std::vector<NewDevice> nodes_of(const DecisionTable& table, const Pool& pool,
                                const std::vector<std::size_t>& members) {
  std::vector<std::size_t> nics;
  for (const auto m : members) {
    const auto& member = pool.members[m];
    if (!pool.spec.include[member.selector].rdma) continue;
    const auto& of = table.pools().functions[member.function].nics;
    nics.insert(nics.end(), of.begin(), of.end());
  }
  std::sort(nics.begin(), nics.end());
  nics.erase(std::unique(nics.begin(), nics.end()), nics.end());
  const auto classes = device_classes(table.policy(), pool.spec.devices);
  return devices_to_add({}, table, nics, classes);
}

}  // namespace

Result<std::vector<std::size_t>> members_held(const DecisionTable& table, std::size_t pool,
                                              const std::vector<std::string>& ids) {
  const Pool& of = table.pools().pools[pool];
  std::vector<std::size_t> held;
  if (of.spec.mode == PoolMode::shared && !of.spec.slots_per_nic) {
    if (of.members.empty()) return empty_pool(of);
    for (std::size_t m = 0; m < of.members.size(); ++m) held.push_back(m);
    return held;
  }
  std::unordered_map<std::string, std::size_t> by_id;
  for (const auto& device : devices_of(of, table.pools().functions)) {
    if (device.member) by_id.emplace(device.id, *device.member);
  }
  for (const auto& id : ids) {
    const auto at = by_id.find(id);
    if (at == by_id.end()) {
      return Error{ErrorCode::unavailable, quoted(id, kMaxDeviceIdLength) + " of " + of.spec.name +
                                               " is not on this node any more"};
    }
    held.push_back(at->second);
  }
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  return held;
}

Result<kubelet::Grant> grant_of(const DecisionTable& table, std::size_t pool,
                                const std::vector<std::string>& ids, HandOut hand_out) {
  const Pool& of = table.pools().pools[pool];
  const auto members = TRY(members_held(table, pool, ids));
  kubelet::Grant grant;
  grant.env = grant_variables(table, of, members, ids.size());
  if (hand_out == HandOut::nri) {
    grant.annotations[allocation_key(of.spec.name)] = join(function_ids(table, of, members), ",");
  } else {
    for (const auto& node : nodes_of(table, of, members)) {
      grant.devices.push_back({node.path, node.path});
    }
  }
  if (wants_vhost(of, members)) {
    for (const auto* path : {"/dev/vhost-net", "/dev/net/tun"})
      grant.devices.push_back({path, path});
  }
  return grant;
}

}  // namespace railhead
