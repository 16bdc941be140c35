// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic behind judge_pods: objects to containers, and two readings to rates.
#pragma once

#include <map>
#include <string>

#include "proof/pods.h"

namespace railhead::proof {

using Shares = std::map<std::string, DeviceShare>;  ///< by device name

/// What is not known of one device.
struct Unowned {
  std::size_t queue_pairs = 0;
  std::size_t contexts = 0;
  std::size_t regions = 0;
};

struct Counted {
  std::map<std::string, Shares> by_container;  ///< by container id
  std::size_t host = 0;                        ///< queue pairs
  std::size_t kernel = 0;
  std::size_t ownerless = 0;
  std::map<std::string, Unowned> unowned;  ///< by device name
};

/// `before` may be null.
Counted count_objects(const usage::Usage& now, const usage::Usage* before);

/// A connected queue pair in RTS: not one looped to itself, as NCCL makes to flush writes to a GPU,
/// nor one of a driver's own kind that names no peer: those prove nothing about other nodes.
/// (A driver that never changes the sequence numbers it was given makes one that is connected to an
/// equal number elsewhere look looped: irdma.)
bool is_connected(const usage::QueuePair& pair);

/// The largest number where the sum would be larger.
std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b);

/// Makes `now` fit to be the reading before the next one: where the kernel could not list a
/// device's queue pairs, or its devices, they are taken to be as `before` has them. Else all of
/// them would be new to the next reading.
void carry_over(usage::Usage& now, usage::Usage&& before);

/// Notes in a reading who alone moved each device's data since the one before it: the next reading
/// takes that for a proof only if it finds the same.
void note_who_moved_alone(usage::Usage& usage, const PodsView& view);

/// Takes out of a reading what the next is not compared with: queue pairs, traffic, who used each
/// device, and networks stay.
void forget_what_is_not_compared(usage::Usage& usage);

/// Increase a second; absent where time stood still or the counter went back (reset).
std::optional<double> rate(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now,
                           std::optional<double> seconds);

/// Between the countings of traffic; absent where it is not known or not positive.
std::optional<double> seconds_between(const usage::Usage* before, const usage::Usage& now);

}  // namespace railhead::proof
