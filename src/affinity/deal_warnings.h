// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "affinity/affinity.h"

namespace railhead::affinity {

/// Adds to a finished deal of a node with GPUs what a person should look at: roles in doubt, NICs
/// that seem to be missing, and what is left to chance, which makes its confidence low.
void add_warnings(const node::Node& node, const topology::Topology& topology, Deal& deal);

}  // namespace railhead::affinity
