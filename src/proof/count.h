// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic behind judge_pods: objects to containers, and two readings to rates.
#pragma once

#include <map>
#include <string>

#include "proof/pods.h"

namespace railhead {

using Shares = std::map<std::string, DeviceShare>;  ///< by device name

struct Counted {
  std::map<std::string, Shares> by_container;  ///< by container id
  std::size_t host = 0;                        ///< queue pairs
  std::size_t kernel = 0;
  std::size_t ownerless = 0;
};

/// `before` may be null.
Counted count_objects(const Usage& now, const Usage* before);

/// A connected queue pair in RTS: not one looped to itself, as NCCL makes to flush writes to a GPU,
/// which proves nothing about other nodes.
bool is_connected(const QueuePair& pair);

/// Increase a second; absent where time stood still or the counter went back (reset).
std::optional<double> rate(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now,
                           std::optional<double> seconds);

/// Between the countings of traffic; absent where it is not known or not positive.
std::optional<double> seconds_between(const Usage* before, const Usage& now);

}  // namespace railhead
