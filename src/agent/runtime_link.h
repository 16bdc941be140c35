// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "agent/service.h"
#include "base/result.h"

namespace railhead::agent {

/// Whether the container runtime asks us when it creates containers, and which containers it will
/// ask about. For any thread.
class RuntimeLink {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// How long after PreStartContainer a runtime may still ask about the container. The kubelet
  /// creates it at once, and a busy runtime prepares its file system first.
  static constexpr std::chrono::seconds kCreationTakes{5};

  /// `socket`: the runtime's, for words; "" where NRI is off.
  explicit RuntimeLink(std::string socket)
      : socket_(std::move(socket)) {}

  void set_connected() {
    const std::lock_guard lock(mutex_);
    connected_ = true;
  }

  /// `why` is the error, for the page /readyz and for pods that wait. What it says of the socket is
  /// said there already.
  void set_disconnected(std::string why) {
    for (const auto& known : {std::string("nri: "), "connecting to " + socket_ + ": "}) {
      if (why.starts_with(known)) why.erase(0, known.size());
    }
    const std::lock_guard lock(mutex_);
    connected_ = false;
    why_ = std::move(why);
  }

  /// How many containers the runtime asks about just now.
  void set_unanswered(std::size_t count) {
    const std::lock_guard lock(mutex_);
    unanswered_ = count;
  }

  [[nodiscard]] Readiness readiness() const {
    const std::lock_guard lock(mutex_);
    return current();
  }

  /// A container that holds a slot gets its nodes from us, through the runtime. One that may start
  /// is owed them.
  [[nodiscard]] Status may_start(Time now) {
    const std::lock_guard lock(mutex_);
    const auto link = current();
    if (link.ready && !is_ending_) {
      granted_ = now;
      return {};
    }
    return Error{ErrorCode::unavailable, "the agent cannot give this container its RDMA devices (" +
                                             (is_ending_ ? "it is being ended" : link.text) +
                                             "); the start is tried again"};
  }

  /// No start is granted from now on.
  void end() {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }

  /// Whether the runtime may be about to create a container that would go without us.
  [[nodiscard]] bool owes(Time now) const {
    const std::lock_guard lock(mutex_);
    return connected_ && (unanswered_ != 0 || (granted_ && now - *granted_ < kCreationTakes));
  }

 private:
  [[nodiscard]] Readiness current() const {
    if (socket_.empty()) return {true, "nri: off"};
    if (connected_) return {true, "nri: connected"};
    return {false, "nri: not connected to " + socket_ + (why_.empty() ? "" : ": " + why_)};
  }

  const std::string socket_;
  mutable std::mutex mutex_;
  bool connected_ = false;
  std::string why_;  ///< "" before the first attempt has ended
  bool is_ending_ = false;
  std::size_t unanswered_ = 0;
  std::optional<Time> granted_;  ///< the last start
};

}  // namespace railhead::agent
