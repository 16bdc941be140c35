// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace railhead::host {

/// Time as a parameter, so that no test waits for it.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// For intervals and deadlines.
  virtual std::chrono::steady_clock::time_point now() = 0;

  /// For people: what a calendar says.
  virtual std::chrono::system_clock::time_point calendar() = 0;

  /// Returns after this time; for commands, never on an event loop.
  virtual void wait(std::chrono::milliseconds time) = 0;
};

class SystemClock : public Clock {
 public:
  std::chrono::steady_clock::time_point now() override { return std::chrono::steady_clock::now(); }

  std::chrono::system_clock::time_point calendar() override {
    return std::chrono::system_clock::now();
  }

  void wait(std::chrono::milliseconds time) override;
};

/// As documents have it: "2026-11-21T03:31:00Z".
std::string utc_text(std::chrono::system_clock::time_point when);

}  // namespace railhead::host
