// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <boost/asio/generic/stream_protocol.hpp>

#include "metrics/http.h"
#include "metrics/http_places.h"

namespace railhead::metrics {

/// Connections that are being read and answered, on the loop that their sockets belong to: one
/// request of at most 8 KiB each, one answer, closed, all within ten seconds. Of what follows the
/// header nothing is read.
///
/// An answer is under way until its reader has taken it: what lies in the kernel meanwhile counts
/// as the agent's memory, and would count on if the socket were closed. Of TCP the kernel drops it
/// when we close; a Unix socket has it until its reader is gone, and only root may be one.
class HttpConnections : public std::enable_shared_from_this<HttpConnections> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  static constexpr std::size_t kMost = 256;        ///< that have not sent a whole request
  static constexpr std::size_t kMostAnswers = 32;  ///< that an answer is under way to
  /// Of all of these. One alone may be larger.
  static constexpr std::size_t kMostAnswerBytes = std::size_t{8} << 20;
  /// Of one answer that lies in the kernel; it keeps twice as much (socket(7), SO_SNDBUF).
  static constexpr int kMostInKernel = 64 << 10;

  HttpConnections(HttpHandler handler, bool is_local)
      : handler_(std::move(handler)),
        is_local_(is_local) {}

  HttpConnections(const HttpConnections&) = delete;
  HttpConnections& operator=(const HttpConnections&) = delete;

  /// A new connection is always taken. Where there is no place for it, the address that has most
  /// places gives up its oldest one: who floods makes room for himself. A probe from elsewhere goes
  /// only where a flood has as many addresses as there are places.
  void take(Socket socket);

  /// Closes all, and asks the handler nothing more.
  void close();

 private:
  class Connection;

  HttpHandler handler_;
  bool is_local_;
  HttpPlaces reading_{kMost};
  HttpPlaces answering_{kMostAnswers, kMostAnswerBytes};
};

}  // namespace railhead::metrics
