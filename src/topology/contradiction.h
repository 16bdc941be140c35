// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "node/node.h"
#include "topology/layout.h"

namespace railhead::topology {

/// GPUs that share a bridge with a NIC in the reference and are nearest to other NICs in the claim,
/// of the NICs that the layout of the claim knows: "GPUs 0000:18:00.0, …"; "" where none are. A
/// claim that is finer or coarser than the reference (some of its nearest NICs, or those and
/// others) does not contradict it. Both nodes have the same GPUs and NICs.
std::string contradicted_gpus(const node::Node& reference, const node::Node& claim,
                              const Layout& layout);

}  // namespace railhead::topology
