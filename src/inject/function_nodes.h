// SPDX-License-Identifier: Apache-2.0
//
// Device nodes that functions of exclusive pools bring along and that are no RDMA devices.
// * Those with a number in their path (IOMMU groups, vhost-vdpa) are looked up at every creation: a
//   number belongs to another function once functions were made or bound anew.
// * Nothing is given in part: a function whose node is not known is an error.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/adjustment.h"
#include "container/facts.h"
#include "inject/decide.h"

namespace railhead::inject {

/// A node by its paths; they differ where vfio does without an IOMMU.
struct FunctionNode {
  std::string host_path;
  std::string container_path;

  friend bool operator==(const FunctionNode&, const FunctionNode&) = default;
};

/// /dev/vfio/vfio and the groups of members that a vfio driver holds, and /dev/vhost-vdpa-<number>
/// of members selected for vhost by vdpaType. Each path once. Unavailable, for the user, where a
/// member has no IOMMU group or no such node.
Result<std::vector<FunctionNode>> numbered_nodes(const DecisionTable& table,
                                                 const pools::Pool& pool,
                                                 const std::vector<std::size_t>& members);

/// The same with numbers, as a runtime wants them. Unavailable also where the node's are not known.
Result<std::vector<container::NewDevice>> numbered_devices(const DecisionTable& table,
                                                           const pools::Pool& pool,
                                                           const std::vector<std::size_t>& members);

/// /dev/vhost-net and /dev/net/tun where a selector asks for them.
std::vector<FunctionNode> constant_nodes(const pools::Pool& pool,
                                         const std::vector<std::size_t>& members);

/// Paths of the node of a function's IOMMU group; absent where no vfio driver holds it, or it has
/// no group. In the container it goes without "noiommu-".
/// Source: sriov-network-device-plugin pkg/utils/utils.go, GetVFIODeviceFile.
std::optional<FunctionNode> vfio_group_node(const DecisionTable& table,
                                            const pools::NetFunction& function);

/// The vDPA device of a function that was selected by vdpaType: the first by name. Null for all
/// others. Source: sriov-network-device-plugin pkg/netdevice/pciNetDevice.go.
const node::VdpaDevice* vdpa_device(const DecisionTable& table, const pools::Pool& pool,
                                    const pools::Member& member);

/// "/dev/vhost-vdpa-0"; absent where the device has no such node, as with virtio_vdpa.
std::optional<std::string> vhost_vdpa_node(const node::VdpaDevice& device);

inline constexpr const char* kVfioContainer = "/dev/vfio/vfio";
inline constexpr const char* kVhostNet = "/dev/vhost-net";
inline constexpr const char* kTun = "/dev/net/tun";

}  // namespace railhead::inject
