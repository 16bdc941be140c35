// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "node/node.h"

namespace railhead::node {

/// What keeps a device from being known: it, or a folder of devices (GPUs, NICs, netdevs), could
/// not be read. Null where all were seen; that an attribute of one could not be read is no such
/// thing.
const Problem* unread_device(const Node& node);

/// The same of PCI functions and RDMA devices alone: a NIC may be there that was not seen.
const Problem* unread_nic(const Node& node);

/// What keeps the RDMA device of a NIC from being known: the NIC is not registered, its function
/// has a driver, and not all RDMA devices were seen. Else null.
const Problem* unread_rdma_device(const Node& node, const Nic& nic);

/// Says of a node that its devices were not seen, and why.
void leave_devices_open(Node& node, const std::string& why);

}  // namespace railhead::node
