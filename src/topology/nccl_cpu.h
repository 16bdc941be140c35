// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "node/node.h"
#include "topology/nccl_topology.h"

namespace railhead::topology {

/// arch, vendor, familyid and modelid of a <cpu>. Absent unless all are there that NCCL asks for
/// (src/graph/topo.cc ncclTopoAddCpu): the vendor on x86, and family and model with it.
std::optional<NcclCpu> nccl_cpu_of(const node::Cpu& cpu);

/// What such a <cpu> says of the processor.
node::Cpu cpu_from(const NcclCpu& cpu);

}  // namespace railhead::topology
