// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <memory>

#include <boost/asio/generic/stream_protocol.hpp>

#include "metrics/http.h"

namespace railhead {

/// Connections that are being read and answered, on the loop that their sockets belong to: one
/// request of at most 8 KiB each, one answer, closed, all within ten seconds. Of what follows the
/// header nothing is read.
class HttpConnections : public std::enable_shared_from_this<HttpConnections> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  static constexpr std::size_t kMost = 32;

  HttpConnections(HttpHandler handler, bool is_local)
      : handler_(std::move(handler)),
        is_local_(is_local) {}

  HttpConnections(const HttpConnections&) = delete;
  HttpConnections& operator=(const HttpConnections&) = delete;
  ~HttpConnections() = default;

  /// A new connection is always taken. Where there are kMost, the oldest that has not sent a whole
  /// request makes room for it; if all have, the oldest.
  void take(Socket socket);

  /// Closes all, and asks the handler nothing more.
  void close();

 private:
  class Connection;
  void make_room();

  HttpHandler handler_;
  bool is_local_;
  std::list<Connection*> open_;  ///< oldest first; each takes itself out
};

}  // namespace railhead
