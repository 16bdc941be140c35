// SPDX-License-Identifier: Apache-2.0
#include "topology/layout.h"

#include <algorithm>
#include <map>

#include "base/find.h"

namespace railhead::topology {
namespace {

node::PciDevice bridge_at(const Position& below, std::size_t depth) {
  node::PciDevice bridge;
  bridge.address = below.bridges[depth];
  bridge.root = below.root;
  bridge.bridges.assign(below.bridges.begin(),
                        below.bridges.begin() + static_cast<std::ptrdiff_t>(depth));
  bridge.class_code = node::kPciBridgeClass;
  bridge.numa_node = below.numa_node;
  return bridge;
}

void put(node::PciDevice& device, const Position& position, NumaOf numa) {
  device.root = position.root;
  device.bridges = position.bridges;
  if (position.numa_node && (numa == NumaOf::layout || !device.numa_node)) {
    device.numa_node = position.numa_node;
  }
}

/// Bridges above moved functions: those of sysfs move along, the others are made.
void put_bridges(std::vector<node::PciDevice>& pci, const std::vector<const Position*>& used,
                 NumaOf numa) {
  std::map<node::PciAddress, node::PciDevice> bridges;
  for (const auto* position : used) {
    for (std::size_t depth = 0; depth < position->bridges.size(); ++depth) {
      bridges.emplace(position->bridges[depth], bridge_at(*position, depth));
    }
  }
  const auto known = static_cast<std::ptrdiff_t>(pci.size());
  for (auto& [address, bridge] : bridges) {
    const auto end = pci.begin() + known;
    const auto at =
        std::lower_bound(pci.begin(), end, address,
                         [](const node::PciDevice& device, const node::PciAddress& wanted) {
                           return device.address < wanted;
                         });
    if (at == end || at->address != address) {
      pci.push_back(std::move(bridge));
    } else if (at->is_bridge()) {
      at->root = bridge.root;
      at->bridges = bridge.bridges;
      if (bridge.numa_node && (numa == NumaOf::layout || !at->numa_node)) {
        at->numa_node = bridge.numa_node;
      }
    }
  }
  std::inplace_merge(
      pci.begin(), pci.begin() + known, pci.end(),
      [](const node::PciDevice& a, const node::PciDevice& b) { return a.address < b.address; });
}

}  // namespace

bool is_invented(const node::PciAddress& bridge) {
  constexpr std::uint32_t kHighestOfLinux = 0xfffff;
  return bridge.domain > kHighestOfLinux || (bridge.domain == 0xffff && bridge.bus == 0xff);
}

const Position* find_position(const Layout& layout, const node::PciDevice& device) {
  node::PciAddress card = device.address;
  card.function = 0;
  for (const auto& address : {device.address, device.physfn.value_or(card), card}) {
    if (const auto* known = find_sorted(layout.positions, &Position::function, address))
      return known;
  }
  return nullptr;
}

node::Node moved(node::Node node, const Layout& layout, NumaOf numa) {
  std::vector<const Position*> used;
  for (auto& device : node.pci) {
    if (device.is_bridge()) continue;
    const Position* position = find_position(layout, device);
    if (position == nullptr) continue;
    put(device, *position, numa);
    used.push_back(position);
  }
  put_bridges(node.pci, used, numa);
  const auto numa_of = [&](const node::PciAddress& address, std::optional<int>& own) {
    const node::PciDevice* device = node.find_pci(address);
    if (device != nullptr && find_position(layout, *device) != nullptr) own = device->numa_node;
  };
  for (auto& gpu : node.gpus) numa_of(gpu.pci, gpu.numa_node);
  for (auto& nic : node.nics) {
    if (nic.pci) numa_of(*nic.pci, nic.numa_node);
  }
  return node;
}

}  // namespace railhead::topology
