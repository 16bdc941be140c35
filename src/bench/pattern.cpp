// SPDX-License-Identifier: Apache-2.0
#include "bench/pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace railhead::bench {
namespace {

/// The finalizer of MurmurHash3 (public domain): every bit of the input changes half of the output.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  x ^= x >> 33;
  return x;
}

std::uint64_t word_at(std::uint64_t seed, std::size_t offset) {
  return mix(mix(seed + 1) + offset / sizeof(std::uint64_t));
}

}  // namespace

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const auto word = word_at(seed, at);
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, bytes.size() - at));
  }
}

std::optional<std::size_t> find_mismatch(std::span<const std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const auto word = word_at(seed, at);
    const auto length = std::min(sizeof word, bytes.size() - at);
    if (std::memcmp(bytes.data() + at, &word, length) == 0) continue;
    std::array<std::byte, sizeof word> wanted{};
    std::memcpy(wanted.data(), &word, length);
    const auto there = bytes.subspan(at, length);
    return at +
           static_cast<std::size_t>(
               std::mismatch(there.begin(), there.end(), wanted.begin()).first - there.begin());
  }
  return std::nullopt;
}

std::uint64_t pattern_seed(std::uint64_t step_seed, std::size_t lane, unsigned queue_pair,
                           unsigned slot) {
  return mix(step_seed) + (static_cast<std::uint64_t>(slot) << 40) +
         (static_cast<std::uint64_t>(lane) << 32) + queue_pair;
}

}  // namespace railhead::bench
