// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

namespace railhead::nri {

/// Exponential back-off with full jitter: the n-th pause in a row is anywhere between the minimum
/// and a ceiling that doubles up to the maximum, so that a runtime's restart does not bring all
/// plugins of a node back at one moment.
class Backoff {
 public:
  using Milliseconds = std::chrono::milliseconds;

  /// `random` gives 0 ≤ x < 1; without one every pause is its ceiling.
  Backoff(Milliseconds min, Milliseconds max, std::function<double()> random);

  Milliseconds next();

  /// The next pause is the first again.
  void reset();

 private:
  Milliseconds min_;
  Milliseconds max_;
  Milliseconds ceiling_;
  std::function<double()> random_;
};

}  // namespace railhead::nri
