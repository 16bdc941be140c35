// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "container/adjustment.h"
#include "container/request.h"
#include "inject/decide.h"

namespace railhead::inject {

/// On a node whose PCI tree hides the switches (DecisionTable::topology_file), adds the node's NCCL
/// topology file and NCCL_TOPO_FILE, without which NCCL in the container takes every NIC for far
/// away and leaves GPUDirect off. Adds nothing where the container brings its own: the variable, or
/// a mount on one of the places where NCCL looks (NCCL src/graph/topo.cc, src/misc/param.cc).
void add_topology_file(const container::Request& request, const DecisionTable& table,
                       container::Adjustment& adjustment);

}  // namespace railhead::inject
