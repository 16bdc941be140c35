// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "loop/mailbox.h"

namespace railhead::loop {

/// A thread with an event loop and a mailbox, for work that may have to wait for the machine. What
/// belongs to it is made, used and destroyed there.
class LoopThread {
 public:
  /// Fails where the kernel has no descriptor or no thread left. `name` is what ps shows, at most
  /// 15 bytes.
  static Result<std::unique_ptr<LoopThread>> start(const std::string& name);

  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  /// As end(); a thread that has not ended by then is left behind with its loop and mailbox.
  ~LoopThread();

  /// For what runs on this thread.
  [[nodiscard]] boost::asio::io_context& loop();
  /// From any thread: work for this one.
  [[nodiscard]] Mailbox& mailbox();

  /// The loop ends after what it is doing now. False where that is not over within `patience`: a
  /// system call waits for a driver. May be called again.
  bool end(std::chrono::milliseconds patience);

 private:
  struct State;
  explicit LoopThread(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace railhead::loop
