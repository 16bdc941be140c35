// SPDX-License-Identifier: Apache-2.0
#include "allocation/handed_nodes.h"

#include <algorithm>
#include <utility>

#include "base/sort_unique.h"
#include "inject/rdma_devices.h"

namespace railhead::allocation {
namespace {

void add(std::vector<HandedNode>& nodes, HandedNode node) {
  const bool there = std::any_of(nodes.begin(), nodes.end(), [&](const HandedNode& one) {
    return one.container_path == node.container_path;
  });
  if (!there) nodes.push_back(std::move(node));
}

/// With virtio_vdpa a container gets the network interface from a CNI plugin, and no node. Source:
/// sriov-network-device-plugin pkg/infoprovider/vdpaInfoProvider.go.
Status add_vdpa_nodes(const inject::DecisionTable& table, const pools::Pool& pool,
                      const std::vector<std::size_t>& members, std::vector<HandedNode>& nodes) {
  for (const auto m : members) {
    const auto* device = vdpa_device(table, pool, pool.members[m]);
    if (device == nullptr || device->type() != "vhost") continue;
    const auto path = vhost_vdpa_node(*device);
    if (!path) {
      return Error{ErrorCode::unavailable,
                   table.pools().functions[pool.members[m].function].id + " of " + pool.spec.name +
                       " has the vDPA device " + device->name +
                       ", which vhost_vdpa gives no /dev/vhost-vdpa-<number>"};
    }
    add(nodes, {*path, *path, {}});
  }
  return {};
}

bool is_held_by_vfio(const inject::DecisionTable& table, const pools::NetFunction& function) {
  if (function.kind == pools::FunctionKind::scalable || !function.pci) return false;
  const auto* device = table.node().find_pci(*function.pci);
  return device != nullptr && device->held_by_vfio();
}

}  // namespace

std::vector<HandedNode> rdma_nodes(const inject::DecisionTable& table, const pools::Pool& pool,
                                   const std::vector<std::size_t>& members) {
  std::vector<std::size_t> nics;
  for (const auto m : members) {
    const auto& member = pool.members[m];
    if (!pool.spec.include[member.selector].rdma) continue;
    const auto& own = table.pools().functions[member.function].nics;
    nics.insert(nics.end(), own.begin(), own.end());
  }
  sort_unique(nics);
  const auto classes = inject::device_classes(table.policy(), pool.spec.devices);
  std::vector<HandedNode> nodes;
  for (auto& device : inject::devices_to_add({}, table, nics, classes)) {
    const auto path = device.path;
    nodes.push_back({path, path, std::move(device)});
  }
  return nodes;
}

std::optional<HandedNode> vfio_group_node(const inject::DecisionTable& table,
                                          const pools::NetFunction& function) {
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

const node::VdpaDevice* vdpa_device(const inject::DecisionTable& table, const pools::Pool& pool,
                                    const pools::Member& member) {
  const auto& conditions = pool.spec.include[member.selector].conditions;
  const bool wanted = std::any_of(conditions.begin(), conditions.end(), [](const auto& condition) {
    return condition.fact == pools::Fact::vdpa_type;
  });
  const auto& function = table.pools().functions[member.function];
  if (!wanted || !function.pci) return nullptr;
  const auto* device = table.node().find_pci(*function.pci);
  return device != nullptr && !device->vdpa.empty() ? &device->vdpa.front() : nullptr;
}

std::optional<std::string> vhost_vdpa_node(const node::VdpaDevice& device) {
  if (!device.vhost_number) return std::nullopt;
  return "/dev/vhost-vdpa-" + std::to_string(*device.vhost_number);
}

Result<std::vector<HandedNode>> other_nodes(const inject::DecisionTable& table,
                                            const pools::Pool& pool,
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
  TRY_STATUS(add_vdpa_nodes(table, pool, members, nodes));
  for (const auto m : members) {
    if (!pool.spec.include[pool.members[m].selector].vhost_net) continue;
    add(nodes, {kVhostNet, kVhostNet, {}});
    add(nodes, {kTun, kTun, {}});
  }
  return nodes;
}

}  // namespace railhead::allocation
