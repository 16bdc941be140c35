// SPDX-License-Identifier: Apache-2.0
#include "host/clock.h"

#include <time.h>

#include <array>
#include <ctime>
#include <thread>

namespace railhead::host {

void SystemClock::wait(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

std::string utc_text(std::chrono::system_clock::time_point when) {
  const auto seconds = std::chrono::system_clock::to_time_t(when);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace railhead::host
