// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/result.h"

namespace railhead {

struct HttpAnswer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

/// GET and HEAD of a few small pages (/metrics, /healthz, /readyz) on the agent's loop. At most
/// kMaxConnections at a time, each with an overall deadline, so that a slow or hostile client costs
/// nothing but its own connection.
class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(std::string_view target)>;
  static constexpr std::size_t kMaxConnections = 32;

  /// Listens on "HOST:PORT" ("[::1]:0", ":9479" for all addresses; port 0 picks one). The error
  /// names the address.
  static Result<std::unique_ptr<HttpServer>> listen(boost::asio::io_context& loop,
                                                    const std::string& address, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The bound "HOST:PORT".
  [[nodiscard]] std::string address() const;
  void stop();

 private:
  struct State;
  explicit HttpServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace railhead
