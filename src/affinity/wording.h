// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "node/node.h"
#include "topology/topology.h"

namespace railhead::affinity {

/// "GPU 3 (0000:5d:00.0)"; without an index the address alone.
std::string gpu_text(const node::Gpu& gpu);

/// A relation with the thing that makes it: "PXB below 0000:16:00.0", "PHB at pci0000:15",
/// "NODE on NUMA node 0", "SYS on the same socket", "SYS".
std::string nearness_text(const node::Node& node, const node::Gpu& gpu, const node::Nic& nic,
                          const topology::Nearness& near);

}  // namespace railhead::affinity
