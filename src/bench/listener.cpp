// SPDX-License-Identifier: Apache-2.0
#include "bench/listener.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/tcp.h"

namespace railhead::bench {

Result<Listener> Listener::bind(const HostPort& where, std::string key, host::Clock& clock,
                                int interrupt) {
  auto socket = TRY(listen_tcp(where));
  auto address = local_address(socket.get());
  return Listener(std::move(socket), std::move(address), std::move(key), clock, interrupt);
}

Result<Channel> Listener::accept(Limit idle_limit, std::vector<std::string>& dropped) {
  const auto end = clock_->now() + idle_limit;
  while (true) {
    const auto ready = TRY(wait(end));
    std::vector<std::size_t> gone;
    for (const auto i : ready) {
      const auto proved = advance(pending_[i]);
      if (!proved) {
        dropped.push_back(proved.error().message);
        gone.push_back(i);
      } else if (*proved) {
        Pending client = std::move(pending_[i]);
        pending_.clear();
        return Channel(std::move(client.socket), Role::server, *client.handshake.keys(), *clock_,
                       interrupt_);
      }
    }
    for (auto i = gone.rbegin(); i != gone.rend(); ++i) {
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(*i));
    }
    drop_late(dropped);
    if (clock_->now() >= end) {
      return Error{ErrorCode::timeout,
                   "no client came within " + std::to_string(idle_limit.count() / 1000) + " s"};
    }
  }
}

Result<std::vector<std::size_t>> Listener::wait(std::chrono::steady_clock::time_point deadline) {
  std::vector<pollfd> polled;
  for (const auto& one : pending_) {
    polled.push_back({one.socket.get(), POLLIN, 0});
    deadline = std::min(deadline, one.deadline);
  }
  polled.push_back({interrupt_, POLLIN, 0});
  // A stranger too many waits in the kernel until another one is gone.
  polled.push_back({pending_.size() < kPending ? socket_.get() : -1, POLLIN, 0});
  const auto left = std::chrono::duration_cast<Limit>(deadline - clock_->now()) + Limit(1);
  const int n =
      ::poll(polled.data(), polled.size(), static_cast<int>(std::max(left, Limit(0)).count()));
  if (n < 0 && errno != EINTR) {
    return Error{ErrorCode::internal, std::string("poll: ") + std::strerror(errno)};
  }
  std::vector<std::size_t> ready;
  if (n <= 0) return ready;
  const auto strangers = pending_.size();
  for (std::size_t i = 0; i < strangers; ++i) {
    if (polled[i].revents != 0) ready.push_back(i);
  }
  if (polled[strangers].revents != 0) return Error{ErrorCode::unavailable, "interrupted"};
  if (polled[strangers + 1].revents != 0) TRY_STATUS(take_connection());
  return ready;
}

Status Listener::take_connection() {
  host::UniqueFd socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) {
    // Waiting would find it again at once, and again.
    const bool lasts = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (!lasts) return {};  // it went away again
    return Error{ErrorCode::internal,
                 std::string("a client cannot be taken: ") + std::strerror(errno)};
  }
  prepare_connection(socket.get());
  const auto nonce = TRY(random_nonce());
  pending_.push_back(
      {std::move(socket), Handshake(Role::server, key_, nonce), clock_->now() + kHandshakeLimit});
  return {};
}

Result<bool> Listener::advance(Pending& pending) {
  const auto bytes = TRY(read_some(pending.socket.get(), pending.handshake.wants()));
  const auto answer = pending.handshake.feed(bytes);
  if (!answer) {
    (void)write_all(pending.socket.get(), pending.handshake.farewell(), Limit(0));
    return answer.error();
  }
  // So few bytes always fit into the socket of one who reads.
  TRY_STATUS(write_all(pending.socket.get(), *answer, Limit(0)));
  return pending.handshake.keys().has_value();
}

void Listener::drop_late(std::vector<std::string>& dropped) {
  const auto now = clock_->now();
  const auto late = std::remove_if(pending_.begin(), pending_.end(),
                                   [&](const Pending& one) { return one.deadline <= now; });
  for (auto one = late; one != pending_.end(); ++one) {
    dropped.emplace_back("silent for " + std::to_string(kHandshakeLimit.count()) + " ms");
  }
  pending_.erase(late, pending_.end());
}

}  // namespace railhead::bench
