// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "metrics/http.h"
#include "metrics/http_listener.h"

namespace railhead {

struct HttpOptions {
  std::string address;  ///< "HOST:PORT" ("[::1]:0", ":9479" for all); empty: no TCP
  std::string socket;   ///< path of the Unix socket; empty: none
  std::function<void(const HttpNews&)> report;
  /// See UnixListener: where the file system may be waited for, and the way back.
  Mailbox* files = nullptr;
  Mailbox* mail = nullptr;
  HttpTimes times;
  bool has_ipv6 = true;  ///< false stands for a kernel without it, in tests
};

/// GET and HEAD of a few small pages (/metrics, /healthz, /readyz, /pods) on the agent's loop. TCP
/// and the Unix socket have connections of their own (HttpConnections), so that whoever is on the
/// network cannot keep a probe on the socket waiting.
class HttpServer {
 public:
  /// Fails only where the address is none. A port or a path that cannot be had now is reported and
  /// tried again.
  static Result<std::unique_ptr<HttpServer>> open(boost::asio::io_context& loop,
                                                  HttpOptions options, HttpHandler handler);
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
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace railhead
