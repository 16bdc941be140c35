// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "pools/pools.h"

namespace railhead {
namespace {

/// A pool that takes over from another plugin keeps its ids: the kubelet has them in its
/// checkpoint. Source: k8s-rdma-shared-dev-plugin pkg/resources/server.go; k8s-rdma-device-plugin
/// pkg/plugin/plugin.go.
std::string slot_id(PoolFlavour flavour, unsigned slot) {
  const auto number = std::to_string(slot);
  return flavour == PoolFlavour::shared_plugin ? number : "rdma-" + number;
}

}  // namespace

std::size_t device_count(const Pool& pool) {
  if (pool.members.empty()) return 0;
  if (pool.spec.mode == PoolMode::exclusive) return pool.members.size();
  if (pool.spec.slots_per_nic) return pool.members.size() * *pool.spec.slots_per_nic;
  return pool.spec.slots;
}

std::vector<PoolDevice> devices_of(const Pool& pool, const std::vector<NetFunction>& functions) {
  std::vector<PoolDevice> devices;
  devices.reserve(device_count(pool));
  const bool identity = pool.spec.mode == PoolMode::exclusive || pool.spec.slots_per_nic;
  if (!identity && !pool.members.empty()) {
    for (unsigned slot = 0; slot < pool.spec.slots; ++slot) {
      devices.push_back({slot_id(pool.spec.origin.flavour, slot), {}, {}, {}});
    }
  }
  for (std::size_t m = 0; identity && m < pool.members.size(); ++m) {
    const auto at = pool.members[m].function;
    const auto& function = functions[at];
    std::vector<int> numa;
    if (function.numa_node && !pool.spec.exclude_topology) numa = {*function.numa_node};
    if (pool.spec.mode == PoolMode::exclusive) {
      devices.push_back({function.id, m, numa, at});
      continue;
    }
    for (unsigned slot = 0; slot < *pool.spec.slots_per_nic; ++slot) {
      devices.push_back({function.id + "-" + std::to_string(slot), m, numa, at});
    }
  }
  return devices;
}

}  // namespace railhead
