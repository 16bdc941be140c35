// SPDX-License-Identifier: Apache-2.0
#include "host/threads.h"

#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace railhead::host {

Status has_threads_left(int count) {
  std::promise<void> enough;
  const auto all_are_there = enough.get_future().share();
  std::vector<std::thread> threads;
  Status outcome;
  try {
    for (int i = 0; i < count; ++i) threads.emplace_back([all_are_there] { all_are_there.wait(); });
  } catch (const std::system_error& failure) {
    outcome = Error{ErrorCode::unavailable, std::string("no thread is left: ") + failure.what()};
  }
  enough.set_value();
  for (auto& thread : threads) thread.join();
  return outcome;
}

}  // namespace railhead::host
