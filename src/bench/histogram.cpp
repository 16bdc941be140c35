// SPDX-License-Identifier: Apache-2.0
#include "bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace railhead::bench {
namespace {

// A class is (exponent, the six bits below the leading one).
constexpr unsigned kBits = 6;
constexpr std::uint64_t kExact = std::uint64_t{1} << (kBits + 1);

std::size_t class_of(std::uint64_t value) {
  if (value < kExact) return static_cast<std::size_t>(value);
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - kBits - 1;
  return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(value >> shift);
}

std::uint64_t middle_of(std::size_t index) {
  if (index < kExact) return index;
  const auto shift = static_cast<unsigned>(index >> kBits) - 1;
  const auto low =
      (static_cast<std::uint64_t>(index) - (static_cast<std::uint64_t>(shift) << kBits)) << shift;
  return low + (std::uint64_t{1} << shift) / 2;
}

}  // namespace

void Histogram::add(std::uint64_t value_ns) {
  const auto index = class_of(value_ns);
  if (index >= counts_.size()) counts_.resize(index + 1);
  ++counts_[index];
  ++count_;
  min_ = std::min(min_, value_ns);
  max_ = std::max(max_, value_ns);
  sum_ += static_cast<double>(value_ns);
}

void Histogram::merge(const Histogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

double Histogram::mean_ns() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

std::optional<std::uint64_t> Histogram::percentile_ns(double share) const {
  if (count_ == 0) return std::nullopt;
  const auto rank = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(middle_of(i), min_, max_);
  }
  return max_;
}

}  // namespace railhead::bench
