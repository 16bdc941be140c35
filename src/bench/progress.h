// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>

#include "bench/plan.h"
#include "host/clock.h"

namespace railhead::bench {

/// One line that says what moves at the moment, written over again.
class Progress {
 public:
  /// Silent unless `shown`.
  Progress(std::ostream& to, host::Clock& clock, bool shown);

  void show(const Step& step, std::uint64_t moved_bytes);
  void clear();

 private:
  std::ostream& to_;
  host::Clock& clock_;
  bool shown_;
  std::uint64_t last_bytes_ = 0;
  std::chrono::steady_clock::time_point last_;
  std::size_t width_ = 0;
};

}  // namespace railhead::bench
