// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "node/node.h"

namespace railhead::node {

/// Completes a reading with what an earlier one knew of devices that are in a pod's network
/// namespace now and keep their PCI function and its driver:
/// * ports, GUIDs and the like of an RDMA device that is `elsewhere`;
/// * of `functions` (those handed out to one pod each) the netdevs that are not seen any more;
/// * of `functions` an RDMA device without nodes, in the exclusive mode and for one reading: a move
///   takes the nodes away and makes them anew (Linux drivers/infiniband/core/device.c,
///   rdma_dev_change_netns()). Its nodes are not known then.
void keep_what_moved(const Node& before, const std::set<PciAddress>& functions, Node& now);

}  // namespace railhead::node
