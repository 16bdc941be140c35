// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace railhead::bench {

/// Latencies in nanoseconds, any number of them in 30 kB: below 128 exact, above that in classes
/// that are at most 1/64 of their value wide. Smallest, largest, sum and number are exact.
class Histogram {
 public:
  void add(std::uint64_t value_ns);
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }

  [[nodiscard]] std::uint64_t min_ns() const { return count_ == 0 ? 0 : min_; }

  [[nodiscard]] std::uint64_t max_ns() const { return max_; }

  [[nodiscard]] double mean_ns() const;

  /// The value below or at which this share (0 to 1) of all values lies: the nearest rank, to the
  /// middle of its class. Absent without values.
  [[nodiscard]] std::optional<std::uint64_t> percentile_ns(double share) const;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace railhead::bench
