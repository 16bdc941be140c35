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

/// The nodes that are not RDMA's: /dev/vfio/vfio and the groups for members that a vfio driver
/// holds, /dev/vhost-vdpa-<number> for members selected for vhost by vdpaType, /dev/vhost-net and
/// /dev/net/tun where a selector asks for them. Each path once. Unavailable, for the user, where a
/// member has no IOMMU group or no such node.
Result<std::vector<HandedNode>> other_nodes(const inject::DecisionTable& table,
                                            const pools::Pool& pool,
                                            const std::vector<std::size_t>& members);

/// Paths of the node of a function's IOMMU group; absent where no vfio driver holds it, or it has
/// no group. In the container it goes without "noiommu-".
/// Source: sriov-network-device-plugin pkg/utils/utils.go, GetVFIODeviceFile.
std::optional<HandedNode> vfio_group_node(const inject::DecisionTable& table,
                                          const pools::NetFunction& function);

/// The vDPA device of a function that was selected by vdpaType: the first by name. Null for all
/// others. Source: sriov-network-device-plugin pkg/netdevice/pciNetDevice.go.
const node::VdpaDevice* vdpa_device(const inject::DecisionTable& table, const pools::Pool& pool,
                                    const pools::Member& member);

/// "/dev/vhost-vdpa-0"; absent where the device has no such node, as with virtio_vdpa.
std::optional<std::string> vhost_vdpa_node(const node::VdpaDevice& device);

inline constexpr const char* kVfioContainer = "/dev/vfio/vfio";
inline constexpr const char* kVhostNet = "/dev/vhost-net";
inline constexpr const char* kTun = "/dev/net/tun";

}  // namespace railhead::allocation
