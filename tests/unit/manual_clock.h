// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "host/clock.h"

namespace railhead::test {

/// Stands still until it is moved.
class ManualClock : public host::Clock {
 public:
  std::chrono::steady_clock::time_point now() override { return now_; }

  std::chrono::system_clock::time_point calendar() override { return calendar_; }

  void wait(std::chrono::milliseconds time) override { advance(time); }

  void advance(std::chrono::nanoseconds by) {
    now_ += by;
    calendar_ += by;
  }

 private:
  std::chrono::steady_clock::time_point now_{};
  std::chrono::system_clock::time_point calendar_{};
};

}  // namespace railhead::test
