// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "bench/channel.h"
#include "host/clock.h"
#include "host/unique_fd.h"

namespace railhead::bench {

/// "10.0.0.1:7174", "[fd00::1]:7174", "node-3:7174".
struct HostPort {
  std::string host;
  std::string port;

  static Result<HostPort> parse(std::string_view text);
};

/// A TCP port at which one client at a time proves that it holds the key. Strangers are dropped: at
/// most kPending of them at once, each within kHandshakeLimit, and they learn nothing that depends
/// on the key.
class Listener {
 public:
  static constexpr std::size_t kPending = 4;

  /// Binds to this one address; port 0 is one that is free.
  static Result<Listener> bind(const HostPort& where, std::string key, host::Clock& clock,
                               int interrupt);

  /// "10.0.0.1:40123".
  [[nodiscard]] const std::string& address() const { return address_; }

  /// The next client that holds the key. timeout when none came within the limit. `dropped` gets
  /// why each of the others went.
  Result<Channel> accept(Limit idle_limit, std::vector<std::string>& dropped);

 private:
  struct Pending {
    host::UniqueFd socket;
    Handshake handshake;
    std::chrono::steady_clock::time_point deadline;
  };

  Listener(host::UniqueFd socket, std::string address, std::string key, host::Clock& clock,
           int interrupt)
      : socket_(std::move(socket)),
        address_(std::move(address)),
        key_(std::move(key)),
        clock_(&clock),
        interrupt_(interrupt) {}

  Status take_connection();
  /// Whether this one has proved itself; an error when it is to be dropped.
  Result<bool> advance(Pending& pending);
  void drop_late(std::vector<std::string>& dropped);
  /// Blocks until a socket is readable or the deadline; which of the pending are, by place.
  Result<std::vector<std::size_t>> wait(std::chrono::steady_clock::time_point deadline);

  host::UniqueFd socket_;
  std::string address_;
  std::string key_;
  host::Clock* clock_;
  int interrupt_;
  std::vector<Pending> pending_;
};

/// A connection to a server, before the handshake. The error names the address.
Result<host::UniqueFd> connect_to(const HostPort& where, Limit limit);

}  // namespace railhead::bench
