// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>

#include "host/clock.h"

namespace railhead::test {

/// A ManualClock that may be moved from another thread than that of its reader.
class SteppedClock final : public host::Clock {
 public:
  std::chrono::steady_clock::time_point now() override {
    return std::chrono::steady_clock::time_point(std::chrono::hours(1)) + offset_.load();
  }

  std::chrono::system_clock::time_point calendar() override {
    return std::chrono::system_clock::time_point(std::chrono::seconds(1700000000)) + offset_.load();
  }

  void wait(std::chrono::milliseconds /*time*/) override {}

  void advance(std::chrono::seconds by) { offset_ = offset_.load() + by; }

 private:
  std::atomic<std::chrono::seconds> offset_{std::chrono::seconds(0)};
};

}  // namespace railhead::test
