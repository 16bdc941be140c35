// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace railhead::bench {

/// Bytes that a NIC cannot have left there by chance: each 64-bit word depends on the seed and on
/// its place, so that old data, shifted data and zeroes all differ.
void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed);

/// The first place that differs from the pattern; absent if all is as it should be.
std::optional<std::size_t> find_mismatch(std::span<const std::byte> bytes, std::uint64_t seed);

/// The seed of the pattern in one slot of a queue pair in a step.
std::uint64_t pattern_seed(std::uint64_t step_seed, std::size_t lane, unsigned queue_pair,
                           unsigned slot);

}  // namespace railhead::bench
