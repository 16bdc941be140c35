// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace railhead {

/// Time as a parameter, so that no test waits for it.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  virtual std::chrono::steady_clock::time_point now() = 0;
};

class SystemClock : public Clock {
 public:
  std::chrono::steady_clock::time_point now() override;
};

/// Stands still until it is moved.
class ManualClock : public Clock {
 public:
  std::chrono::steady_clock::time_point now() override { return now_; }

  void advance(std::chrono::nanoseconds by) { now_ += by; }

 private:
  std::chrono::steady_clock::time_point now_{};
};

}  // namespace railhead
