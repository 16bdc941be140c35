// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "node/node.h"
#include "topology/layout.h"

namespace railhead {

/// GPUs that share a bridge with a NIC in the reference and are nearest to quite other NICs in the
/// claim, of the NICs that the layout of the claim knows: "GPU 0, GPU 1"; "" where none are. Both
/// nodes have the same GPUs and NICs.
std::string contradicted_gpus(const Node& reference, const Node& claim, const Layout& layout);

}  // namespace railhead
