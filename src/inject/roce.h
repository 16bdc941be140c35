// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "inject/nics_of.h"

// RoCE in a pod with a network namespace of its own. A connection begins with an address, and the
// kernel takes the addresses (GIDs) of an Ethernet port from the netdevs of its NIC in the caller's
// network namespace (Linux drivers/infiniband/core/roce_gid_mgmt.c, cma.c). So the pod needs a
// netdev of each of its NICs. A CNI plugin puts it there before the container is created.
//
// Said is only what is known: what the pod asks for, and, of a NIC that is allocated to it alone,
// whether the netdev has left the node. Which NIC a network is on is written at the API server.
namespace railhead::inject {

/// RoCE: one of its ports is Ethernet, none is InfiniBand.
bool is_ethernet(const node::Nic& nic);

/// Those of `nics` of which nobody puts a netdev into the pod's own network namespace. None where
/// that is not known.
std::vector<std::size_t> without_address(const Case& given, const std::vector<std::size_t>& nics);

/// Says what of it is missing in the pod, and the fix.
void note_missing_netdev(const Case& given, NicChoice& choice);

}  // namespace railhead::inject
