// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "node/node.h"
#include "topology/nccl_topology.h"

namespace railhead::topology {

/// arch, vendor, familyid and modelid of a <cpu>. Absent unless all are there that NCCL asks for
/// (src/graph/topo.cc ncclTopoAddCpu): the vendor on x86, and family and model with it.
std::optional<NcclCpu> nccl_cpu_of(const node::Cpu& cpu);

/// affinity of the <cpu> of a NUMA node: "" where its CPUs are not known, or more than NCCL reads.
/// NCCL then binds no thread to them.
std::string nccl_affinity_of(const node::Node& node, std::optional<int> numa_node);

/// What such a <cpu> says of the processor.
node::Cpu cpu_from(const NcclCpu& cpu);

}  // namespace railhead::topology
