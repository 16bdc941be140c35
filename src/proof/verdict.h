// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "proof/pods.h"

namespace railhead::proof {

/// Why it cannot be said that a container has no queue pairs; empty where it can. One text a
/// reason.
std::vector<std::string> blind_spots(const usage::Usage& usage, const node::Node& node,
                                     std::size_t ownerless);

/// "4 nodes, 32 ranks"; of an empty one "".
std::string size_text(const container::JobSize& size);

/// Fills verdict, why and evidence of a container from what was counted.
void judge(PodUse& pod, const std::vector<std::string>& blind_spots);

}  // namespace railhead::proof
