// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "affinity/affinity.h"

namespace railhead::affinity {

/// Compute NICs of the node, with those that the operator gave another role or calls unused.
std::size_t nics_of_type(const Deal& deal);

/// "AWS p5.48xlarge has 32 compute NICs, of which 31 are here", where a machine of a known type has
/// fewer than that; else "".
std::string shortage_text(const node::Node& node, const topology::Topology& topology,
                          const Deal& deal);

}  // namespace railhead::affinity
