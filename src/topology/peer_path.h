// SPDX-License-Identifier: Apache-2.0
// How what two PCIe functions send each other goes: straight through the switches that they share,
// or up to the root where ACS redirects it (node/pci_config.h).
#pragma once

#include <string_view>
#include <vector>

#include "node/node.h"

namespace railhead::topology {

/// The bridges of both below the lowest one that they share; none where they share none.
std::vector<node::PciAddress> bridges_between(const node::PciDevice& a, const node::PciDevice& b);

/// Why ACS has to stay as it is on this machine, whatever it redirects; "": nothing is known
/// against a change. Source: rdma-core kernel-boot/rdma_topo (Grace, data-direct functions).
std::string_view why_acs_stays(const node::Node& node);

}  // namespace railhead::topology
