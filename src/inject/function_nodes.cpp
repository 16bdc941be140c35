// SPDX-License-Identifier: Apache-2.0
#include "inject/function_nodes.h"

#include <algorithm>
#include <utility>

namespace railhead::inject {
namespace {

void add(std::vector<FunctionNode>& nodes, FunctionNode node) {
  const bool there = std::any_of(nodes.begin(), nodes.end(), [&](const FunctionNode& one) {
    return one.container_path == node.container_path;
  });
  if (!there) nodes.push_back(std::move(node));
}

const node::PciDevice* held_by_vfio(const DecisionTable& table,
                                    const pools::NetFunction& function) {
  if (function.kind == pools::FunctionKind::scalable || !function.pci) return nullptr;
  const auto* device = table.node().find_pci(*function.pci);
  return device != nullptr && device->held_by_vfio() ? device : nullptr;
}

/// With virtio_vdpa a container gets the network interface from a CNI plugin, and no node. Source:
/// sriov-network-device-plugin pkg/infoprovider/vdpaInfoProvider.go.
Status add_vdpa_nodes(const DecisionTable& table, const pools::Pool& pool,
                      const std::vector<std::size_t>& members, std::vector<FunctionNode>& nodes) {
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
    add(nodes, {*path, *path});
  }
  return {};
}

}  // namespace

std::optional<FunctionNode> vfio_group_node(const DecisionTable& table,
                                            const pools::NetFunction& function) {
  const auto* device = held_by_vfio(table, function);
  const auto name = device != nullptr ? device->vfio_group_name() : std::nullopt;
  if (!name) return std::nullopt;
  return FunctionNode{"/dev/vfio/" + *name, "/dev/vfio/" + std::to_string(*device->iommu_group)};
}

const node::VdpaDevice* vdpa_device(const DecisionTable& table, const pools::Pool& pool,
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

Result<std::vector<FunctionNode>> numbered_nodes(const DecisionTable& table,
                                                 const pools::Pool& pool,
                                                 const std::vector<std::size_t>& members) {
  std::vector<FunctionNode> nodes;
  for (const auto m : members) {
    const auto& function = table.pools().functions[pool.members[m].function];
    if (held_by_vfio(table, function) == nullptr) continue;
    const auto group = vfio_group_node(table, function);
    if (!group) {
      return Error{ErrorCode::unavailable,
                   function.id + " of " + pool.spec.name +
                       " is held by a vfio driver and has no IOMMU group: is the IOMMU on?"};
    }
    add(nodes, {kVfioContainer, kVfioContainer});
    add(nodes, *group);
  }
  TRY_STATUS(add_vdpa_nodes(table, pool, members, nodes));
  return nodes;
}

Result<std::vector<container::NewDevice>> numbered_devices(
    const DecisionTable& table, const pools::Pool& pool, const std::vector<std::size_t>& members) {
  const auto nodes = TRY(numbered_nodes(table, pool, members));
  std::vector<container::NewDevice> devices;
  for (const auto& node : nodes) {
    const auto* known = table.node().find_function_device(node.host_path);
    if (known == nullptr) {
      return Error{ErrorCode::unavailable, node.host_path + ", which " + pool.spec.name +
                                               " hands out, is not on this node"};
    }
    devices.push_back({node.container_path, known->major, known->minor, known->mode & 07777U,
                       known->uid, known->gid});
  }
  return devices;
}

std::vector<FunctionNode> constant_nodes(const pools::Pool& pool,
                                         const std::vector<std::size_t>& members) {
  const bool wanted = std::any_of(members.begin(), members.end(), [&](auto m) {
    return pool.spec.include[pool.members[m].selector].vhost_net;
  });
  if (!wanted) return {};
  return {{kVhostNet, kVhostNet}, {kTun, kTun}};
}

}  // namespace railhead::inject
