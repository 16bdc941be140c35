// SPDX-License-Identifier: Apache-2.0
// The trunk: one unix stream socket, read as it comes and written message by message.
//
// Invariants
// * A message is written whole and in order; a write that the socket does not take at once goes on
//   when it can. The first attempt is made right away: most answers never wait for the loop.
// * At most 256 frames and 64 MiB wait to be written. A runtime that does not read that much is
//   gone, and its own queue holds 256 frames.
// * What has come is read until nothing is left; then nothing is tried until the socket says so.
//   A short read took all bytes (epoll(7)), so each piece of a request costs one recv. A runtime
//   that had hung up together with them is not told of again: one more recv, a moment after the
//   last read, notices that.
// * Once nothing has come for a moment after many requests, free memory and the pages of code that
//   they needed are given back.
// * `Events` is never called from within connect(), send() or close(), and not after close().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "nri/trunk_socket.h"
#include "wire/mux.h"

namespace railhead::nri {

inline constexpr std::size_t kMaxWaitingFrames = 256;
inline constexpr std::size_t kMaxWaitingBytes = std::size_t{64} << 20U;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  class Events {
   public:
    virtual ~Events() = default;

    /// `peer_pid` from SO_PEERCRED; absent where the peer is outside our PID namespace.
    virtual void opened(std::optional<int> peer_pid) = 0;
    virtual void received(std::string_view bytes) = 0;
    /// Not made, ended, or given up; nothing follows.
    virtual void lost(const Error& why) = 0;
  };

  Connection(boost::asio::io_context& loop, Events& events);

  void connect(const std::string& path);
  void send(wire::FramedMessage message);
  void close();

 private:
  using Code = boost::system::error_code;

  void read();
  void wait_for_bytes();
  void look_again_later();
  void tidy_up();
  void flush();
  Code write_some();
  void drop_written(std::size_t bytes);
  void fail(Error why);

  boost::asio::io_context& loop_;
  Events* events_;  // null after close()
  TrunkSocket socket_;
  bool failed_ = false;
  boost::asio::steady_timer look_again_;
  bool looking_again_ = false;  // the timer runs
  std::uint64_t reads_ = 0;     // that brought bytes
  std::uint64_t tidied_at_ = 0;
  bool waiting_to_read_ = false;
  bool waiting_to_write_ = false;
  std::deque<wire::FramedMessage> waiting_;
  std::size_t written_of_front_ = 0;
  std::size_t waiting_bytes_ = 0;
  std::size_t waiting_frames_ = 0;
  std::array<char, std::size_t{32} << 10U> input_;
};

}  // namespace railhead::nri
