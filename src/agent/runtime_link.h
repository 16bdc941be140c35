// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "agent/service.h"
#include "base/result.h"

namespace railhead::agent {

/// Whether the container runtime asks us when it creates containers. For any thread.
class RuntimeLink {
 public:
  /// `socket`: the runtime's, for words; "" where NRI is off.
  explicit RuntimeLink(std::string socket)
      : socket_(std::move(socket)) {}

  void set_connected(bool connected) { connected_ = connected; }

  [[nodiscard]] Readiness readiness() const {
    if (socket_.empty()) return {true, "nri: off"};
    if (connected_) return {true, "nri: connected"};
    return {false, "nri: not connected to " + socket_};
  }

  /// A container that holds a slot gets its nodes from us, through the runtime.
  [[nodiscard]] Status may_start() const {
    const auto now = readiness();
    if (now.ready) return {};
    return Error{ErrorCode::unavailable, "the agent cannot give this container its RDMA devices (" +
                                             now.text + "); the start is tried again"};
  }

 private:
  const std::string socket_;
  std::atomic<bool> connected_{false};
};

}  // namespace railhead::agent
