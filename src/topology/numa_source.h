// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "node/node.h"
#include "topology/topology.h"

namespace railhead::topology {

/// How far NUMA nodes alone lead where no PCIe switch is to be seen.
struct NumaSource {
  Confidence confidence = Confidence::medium;
  std::string warning;  ///< what is left to chance, and what to do; "" where nothing is
};

/// Chance decides where several GPUs and several NICs are on one NUMA node, or on none that is
/// known: those are dealt by PCI address.
NumaSource numa_source_of(const node::Node& node);

}  // namespace railhead::topology
