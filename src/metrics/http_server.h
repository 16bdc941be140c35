// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "metrics/http.h"
#include "metrics/http_listener.h"

namespace railhead::metrics {

struct HttpOptions {
  std::optional<HttpAddress> address;  ///< absent: no TCP
  std::string socket;                  ///< path of the Unix socket; empty: none
  std::function<void(const HttpNews&)> report;
  /// See UnixListener: where the file system may be waited for, and the way back.
  loop::Mailbox* files = nullptr;
  loop::Mailbox* mail = nullptr;
  HttpTimes times;
  bool has_ipv6 = true;  ///< false stands for a kernel without it, in tests
};

/// GET and HEAD of a few small pages (/metrics, /healthz, /readyz, /pods, /doctor) on the agent's
/// loop. TCP and the Unix socket have connections of their own (HttpConnections), so that whoever
/// is on the network cannot keep a probe on the socket waiting.
class HttpServer {
 public:
  /// A port or a path that cannot be had now is reported and tried again.
  HttpServer(boost::asio::io_context& loop, HttpOptions options, const HttpHandler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The bound "HOST:PORT"; "" while the port is not served.
  [[nodiscard]] std::string address() const;

  /// A place that should be served, and why it is not.
  struct Place {
    std::string kind;     ///< "tcp", "unix"
    std::string address;  ///< as bound, else as wanted
    std::string problem;  ///< "" while it is served
  };

  [[nodiscard]] std::vector<Place> places() const;

  /// A connection that was accepted elsewhere.
  void take(HttpConnections::Socket socket, bool is_local);

  void stop();

 private:
  std::shared_ptr<HttpConnections> remote_;
  std::shared_ptr<HttpConnections> local_;
  std::shared_ptr<HttpListener> tcp_;     ///< null: not wanted
  std::shared_ptr<HttpListener> socket_;  ///< likewise
};

}  // namespace railhead::metrics
