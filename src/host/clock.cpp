// SPDX-License-Identifier: Apache-2.0
#include "host/clock.h"

#include <thread>

namespace railhead {

std::chrono::steady_clock::time_point SystemClock::now() {
  return std::chrono::steady_clock::now();
}

std::chrono::system_clock::time_point SystemClock::calendar() {
  return std::chrono::system_clock::now();
}

void SystemClock::wait(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

}  // namespace railhead
