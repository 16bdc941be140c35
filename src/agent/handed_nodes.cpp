// SPDX-License-Identifier: Apache-2.0
#include "agent/handed_nodes.h"

#include <algorithm>
#include <utility>

#include "base/sort_unique.h"
#include "inject/rdma_devices.h"

namespace railhead {
namespace {

void add(std::vector<HandedNode>& nodes, HandedNode node) {
  const bool there = std::any_of(nodes.begin(), nodes.end(), [&](const HandedNode& one) {
    return one.container_path == node.container_path;
  });
  if (!there) nodes.push_back(std::move(node));
}

bool is_held_by_vfio(const DecisionTable& table, const NetFunction& function) {
  if (function.kind == FunctionKind::scalable || !function.pci) return false;
  const auto* device = table.node().find_pci(*function.pci);
  return device != nullptr && device->held_by_vfio();
}

}  // namespace

std::vector<HandedNode> rdma_nodes(const DecisionTable& table, const Pool& pool,
                                   const std::vector<std::size_t>& members) {
  std::vector<std::size_t> nics;
  for (const auto m : members) {
    const auto& member = pool.members[m];
    if (!pool.spec.include[member.selector].rdma) continue;
    const auto& of = table.pools().functions[member.function].nics;
    nics.insert(nics.end(), of.begin(), of.end());
  }
  sort_unique(nics);
  const auto classes = device_classes(table.policy(), pool.spec.devices);
  std::vector<HandedNode> nodes;
  for (auto& device : devices_to_add({}, table, nics, classes)) {
    const auto path = device.path;
    nodes.push_back({path, path, std::move(device)});
  }
  return nodes;
}

std::optional<HandedNode> vfio_group_node(const DecisionTable& table, const NetFunction& function) {
  if (!is_held_by_vfio(table, function)) return std::nullopt;
  const auto* device = table.node().find_pci(*function.pci);
  if (!device->iommu_group) return std::nullopt;
  const auto group = std::to_string(*device->iommu_group);
  return HandedNode{
      "/dev/vfio/" + std::string(device->no_iommu ? "noiommu-" : "") + group,
      "/dev/vfio/" + group,
      {},
  };
}

Result<std::vector<HandedNode>> other_nodes(const DecisionTable& table, const Pool& pool,
                                            const std::vector<std::size_t>& members) {
  std::vector<HandedNode> nodes;
  for (const auto m : members) {
    const auto& function = table.pools().functions[pool.members[m].function];
    if (!is_held_by_vfio(table, function)) continue;
    const auto group = vfio_group_node(table, function);
    if (!group) {
      return Error{ErrorCode::unavailable,
                   function.id + " of " + pool.spec.name +
                       " is held by a vfio driver and has no IOMMU group: is the IOMMU on?"};
    }
    add(nodes, {kVfioContainer, kVfioContainer, {}});
    add(nodes, *group);
  }
  for (const auto m : members) {
    if (!pool.spec.include[pool.members[m].selector].vhost_net) continue;
    add(nodes, {kVhostNet, kVhostNet, {}});
    add(nodes, {kTun, kTun, {}});
  }
  return nodes;
}

}  // namespace railhead
