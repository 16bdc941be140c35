// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "bench/frame.h"
#include "bench/handshake.h"
#include "data/json.h"
#include "data/value.h"
#include "host/clock.h"
#include "host/unique_fd.h"

namespace railhead::bench {

using Limit = std::chrono::milliseconds;

/// A side that does not prove itself in this time is dropped.
inline constexpr Limit kHandshakeLimit{5000};
/// Every other message comes in this time, or the session ends.
inline constexpr Limit kMessageLimit{20000};

/// A connection between two sides that have proved to each other that they hold the key: one JSON
/// document a message. Every wait has a limit, and ends when `interrupt` becomes readable (-1: it
/// never does). Errors: unavailable (closed, or interrupted), timeout, denied, malformed,
/// too_large.
class Channel {
 public:
  /// Takes a connected stream socket and shakes hands.
  static Result<Channel> open(host::UniqueFd socket, Role role, const std::string& key,
                              host::Clock& clock, int interrupt);

  /// One whose handshake was done elsewhere.
  Channel(host::UniqueFd socket, Role role, const SessionKeys& keys, host::Clock& clock,
          int interrupt);

  Status send(const data::Json& message);
  Result<data::Value> receive(Limit limit = kMessageLimit);

  /// To be watched while something else is going on.
  [[nodiscard]] int descriptor() const { return socket_.get(); }

  [[nodiscard]] int interrupt() const { return interrupt_; }

 private:
  host::UniqueFd socket_;
  FrameWriter writer_;
  FrameReader reader_;
  host::Clock* clock_;
  int interrupt_;
};

/// Waits until one of these is readable (-1: never is) and returns its place; timeout error.
Result<std::size_t> wait_readable(std::initializer_list<int> descriptors, Limit limit);

/// Whole, within the limit.
Status write_all(int socket, std::string_view bytes, Limit limit);
/// Some bytes, at most so many; unavailable when the other side closed.
Result<std::string> read_some(int socket, std::size_t most);

}  // namespace railhead::bench
