// SPDX-License-Identifier: Apache-2.0
#include "bench/channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace railhead::bench {
namespace {

constexpr data::ParseLimits kParse{kMaxBody, 12, 16384};

Limit left_until(std::chrono::steady_clock::time_point deadline, host::Clock& clock) {
  return std::max(std::chrono::duration_cast<Limit>(deadline - clock.now()), Limit(0));
}

Error interrupted() {
  return {ErrorCode::unavailable, "interrupted"};
}

}  // namespace

Result<std::size_t> wait_readable(std::initializer_list<int> descriptors, Limit limit) {
  std::vector<pollfd> polled;
  for (const int one : descriptors) polled.push_back({one, POLLIN, 0});
  while (true) {
    const int n = ::poll(polled.data(), polled.size(), static_cast<int>(limit.count()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{ErrorCode::internal, std::string("poll: ") + std::strerror(errno)};
    if (n == 0) {
      return Error{ErrorCode::timeout, "no answer within " + std::to_string(limit.count()) + " ms"};
    }
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents != 0) return i;
    }
  }
}

Status write_all(int socket, std::string_view bytes, Limit limit) {
  while (!bytes.empty()) {
    const auto n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) {
      return Error{ErrorCode::unavailable,
                   std::string("the other side is gone: ") + std::strerror(errno)};
    }
    pollfd polled{socket, POLLOUT, 0};
    if (::poll(&polled, 1, static_cast<int>(limit.count())) == 0) {
      return Error{ErrorCode::timeout, "the other side does not take our message"};
    }
  }
  return {};
}

Result<std::string> read_some(int socket, std::size_t most) {
  std::array<char, 16384> buffer;
  const auto n = ::recv(socket, buffer.data(), std::min(most, buffer.size()), MSG_DONTWAIT);
  if (n > 0) return std::string(buffer.data(), static_cast<std::size_t>(n));
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::string();
  return Error{ErrorCode::unavailable,
               n == 0 ? std::string("the other side closed the connection")
                      : std::string("the other side is gone: ") + std::strerror(errno)};
}

Channel::Channel(host::UniqueFd socket, Role role, const SessionKeys& keys, host::Clock& clock,
                 int interrupt)
    : socket_(std::move(socket)),
      writer_(role == Role::client ? keys.client_to_server : keys.server_to_client),
      reader_(role == Role::client ? keys.server_to_client : keys.client_to_server),
      clock_(&clock),
      interrupt_(interrupt) {}

Result<Channel> Channel::open(host::UniqueFd socket, Role role, const std::string& key,
                              host::Clock& clock, int interrupt) {
  const auto nonce = TRY(random_nonce());
  const auto deadline = clock.now() + kHandshakeLimit;
  Handshake handshake(role, key, nonce);
  TRY_STATUS(write_all(socket.get(), handshake.opening(), kHandshakeLimit));
  while (!handshake.keys()) {
    const auto ready = TRY(wait_readable({socket.get(), interrupt}, left_until(deadline, clock)));
    if (ready == 1) return interrupted();
    const auto bytes = TRY(read_some(socket.get(), handshake.wants()));
    const auto answer = handshake.feed(bytes);
    if (!answer) {
      // The reason counts, whether or not the other side still hears it.
      (void)write_all(socket.get(), handshake.farewell(), Limit(0));
      return answer.error();
    }
    TRY_STATUS(write_all(socket.get(), *answer, kHandshakeLimit));
  }
  return Channel(std::move(socket), role, *handshake.keys(), clock, interrupt);
}

Status Channel::send(const data::Json& message) {
  const auto frame = TRY(writer_.frame(data::to_json_text(message)));
  return write_all(socket_.get(), frame, kMessageLimit);
}

Result<data::Value> Channel::receive(Limit limit) {
  const auto deadline = clock_->now() + limit;
  while (true) {
    const auto body = TRY(reader_.next());
    if (body) return data::parse_json(*body, kParse);
    const auto ready =
        TRY(wait_readable({socket_.get(), interrupt_}, left_until(deadline, *clock_)));
    if (ready == 1) return interrupted();
    reader_.feed(TRY(read_some(socket_.get(), reader_.wants())));
  }
}

}  // namespace railhead::bench
