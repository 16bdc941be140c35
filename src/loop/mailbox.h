// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "host/unique_fd.h"

namespace railhead::loop {

/// Work that other threads leave for the one thread of an event loop.
class Mailbox {
 public:
  /// Fails where the kernel has no descriptor left.
  static Result<std::unique_ptr<Mailbox>> open();

  /// From any thread. Never blocks for longer than another post.
  void post(std::function<void()> work);

  /// For the event loop: readable means that run() has something to do.
  [[nodiscard]] int descriptor() const { return event_.get(); }

  /// On the loop's thread: does what was posted up to now, in that order. What the work itself
  /// posts waits for the next call.
  void run();

 private:
  explicit Mailbox(host::UniqueFd event)
      : event_(std::move(event)) {}

  host::UniqueFd event_;
  std::mutex mutex_;
  std::vector<std::function<void()>> work_;
};

}  // namespace railhead::loop
