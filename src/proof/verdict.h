// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "proof/count.h"
#include "proof/pods.h"

namespace railhead::proof {

/// Why it cannot be said that a container has no queue pairs. One text a reason.
struct BlindSpots {
  std::vector<std::string> of_all;                              ///< any container's
  std::map<std::string, std::vector<std::string>> of_device{};  ///< those that may have it open

  /// All of them.
  [[nodiscard]] std::vector<std::string> texts() const;
};

BlindSpots blind_spots(const usage::Usage& usage, const node::Node& node, const Counted& counted);

/// Devices that a container may have open, as far as was seen: it has a context there, or not
/// all contexts were seen. A queue pair of a process is always one of a context.
std::set<std::string> may_have_open(const usage::Usage& usage, const Counted& counted,
                                    const PodUse& pod);

/// "4 nodes, 32 ranks"; of an empty one "".
std::string size_text(const container::JobSize& size);

/// Fills verdict, rung, why and evidence of a container from what was counted. `doubts` are the
/// reasons for which something may have been missed.
void judge(PodUse& pod, const node::Node& node, std::vector<std::string> doubts);

/// Fills `expects`: why it is due to use RDMA.
void say_expectations(PodUse& pod);

}  // namespace railhead::proof
