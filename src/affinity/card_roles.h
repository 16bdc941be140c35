// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "affinity/affinity.h"
#include "affinity/facts.h"

namespace railhead::affinity {

/// Decides what is undecided of the node's NICs by comparing their cards with each other. Cards set
/// to compute by configuration are compared, too, and keep their role; other decided ones are not.
void judge_cards(const NicFacts& facts, const topology::Topology& topology,
                 std::vector<std::optional<RoleDecision>>& decisions);

}  // namespace railhead::affinity
