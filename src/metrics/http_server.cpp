// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_server.h"

#include <utility>

namespace railhead::metrics {

HttpServer::HttpServer(boost::asio::io_context& loop, HttpOptions options,
                       const HttpHandler& handler)
    : remote_(std::make_shared<HttpConnections>(handler, false)),
      local_(std::make_shared<HttpConnections>(handler, true)) {
  if (!options.report) options.report = [](const HttpNews&) {};
  if (options.address) {
    tcp_ = std::make_shared<TcpListener>(
        HttpListener::Parts{loop, options.times, options.report, remote_}, *options.address,
        options.has_ipv6);
  }
  if (!options.socket.empty()) {
    socket_ = std::make_shared<UnixListener>(
        HttpListener::Parts{loop, options.times, options.report, local_}, options.socket,
        options.files, options.mail);
  }
  if (tcp_) tcp_->start();
  if (socket_) socket_->start();
}

HttpServer::~HttpServer() {
  stop();
}

std::string HttpServer::address() const {
  return tcp_ ? tcp_->address() : "";
}

std::vector<HttpServer::Place> HttpServer::places() const {
  std::vector<Place> places;
  const auto add = [&](const char* kind, const HttpListener* one) {
    if (one == nullptr) return;
    const bool listens = !one->address().empty();
    places.push_back({kind, listens ? one->address() : one->wanted(),
                      listens                  ? ""
                      : one->problem().empty() ? "not yet"
                                               : one->problem()});
  };
  add("tcp", tcp_.get());
  add("unix", socket_.get());
  return places;
}

void HttpServer::take(HttpConnections::Socket socket, bool is_local) {
  (is_local ? local_ : remote_)->take(std::move(socket));
}

void HttpServer::stop() {
  for (const auto& listener : {tcp_, socket_}) {
    if (listener) listener->stop();
  }
  remote_->close();
  local_->close();
}

}  // namespace railhead::metrics
