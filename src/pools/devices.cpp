// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "pools/pools.h"

namespace railhead::pools {
namespace {

/// A pool that takes over from another plugin keeps its ids: the kubelet has them in its
/// checkpoint. Source: k8s-rdma-shared-dev-plugin pkg/resources/server.go; k8s-rdma-device-plugin
/// pkg/plugin/plugin.go.
std::string_view slot_prefix(PoolFlavour flavour) {
  return flavour == PoolFlavour::shared_plugin ? "" : "rdma-";
}

/// A number as we write it, without leading zeros.
std::optional<unsigned> number_below(unsigned end, std::string_view text) {
  const auto number = parse_unsigned(text);
  if (!number || *number >= end || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return static_cast<unsigned>(*number);
}

}  // namespace

bool is_fungible(const Pool& pool) {
  return pool.spec.mode == PoolMode::shared && !pool.spec.slots_per_nic;
}

std::size_t device_count(const Pool& pool) {
  if (pool.members.empty()) return 0;
  if (pool.spec.mode == PoolMode::exclusive) return pool.members.size();
  if (pool.spec.slots_per_nic) return pool.members.size() * *pool.spec.slots_per_nic;
  return pool.spec.slots;
}

std::vector<PoolDevice> devices_of(const Pool& pool, const std::vector<NetFunction>& functions) {
  std::vector<PoolDevice> devices;
  devices.reserve(device_count(pool));
  if (is_fungible(pool)) {
    const auto prefix = slot_prefix(pool.spec.origin.flavour);
    const unsigned slots = pool.members.empty() ? 0 : pool.spec.slots;
    for (unsigned slot = 0; slot < slots; ++slot) {
      devices.push_back({std::string(prefix).append(std::to_string(slot)), {}, {}, {}});
    }
    return devices;
  }
  for (std::size_t m = 0; m < pool.members.size(); ++m) {
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

std::optional<std::size_t> member_of_device(const PoolTable& table, const Pool& pool,
                                            std::string_view id) {
  if (is_fungible(pool)) return std::nullopt;
  if (pool.spec.mode == PoolMode::exclusive) return table.find_member(pool, id);
  const auto dash = id.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  if (!number_below(*pool.spec.slots_per_nic, id.substr(dash + 1))) return std::nullopt;
  return table.find_member(pool, id.substr(0, dash));
}

std::optional<unsigned> slot_number(const Pool& pool, std::string_view id) {
  const auto prefix = slot_prefix(pool.spec.origin.flavour);
  if (!is_fungible(pool) || pool.members.empty() || !id.starts_with(prefix)) return std::nullopt;
  return number_below(pool.spec.slots, id.substr(prefix.size()));
}

}  // namespace railhead::pools
