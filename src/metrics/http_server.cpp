// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_server.h"

#include <utility>

namespace railhead::metrics {

struct HttpServer::State {
  std::shared_ptr<HttpConnections> remote;
  std::shared_ptr<HttpConnections> local;
  std::shared_ptr<HttpListener> tcp;
  std::shared_ptr<HttpListener> socket;
};

HttpServer::HttpServer(boost::asio::io_context& loop, HttpOptions options,
                       const HttpHandler& handler)
    : state_(std::make_unique<State>()) {
  state_->remote = std::make_shared<HttpConnections>(handler, false);
  state_->local = std::make_shared<HttpConnections>(handler, true);
  if (!options.report) options.report = [](const HttpNews&) {};
  if (options.address) {
    state_->tcp = std::make_shared<TcpListener>(loop, *options.address, options.times,
                                                options.report, state_->remote, options.has_ipv6);
  }
  if (!options.socket.empty()) {
    state_->socket =
        std::make_shared<UnixListener>(loop, options.socket, options.times, options.report,
                                       state_->local, options.files, options.mail);
  }
  if (state_->tcp) state_->tcp->start();
  if (state_->socket) state_->socket->start();
}

HttpServer::~HttpServer() {
  stop();
}

std::string HttpServer::address() const {
  return state_->tcp ? state_->tcp->address() : "";
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
  add("tcp", state_->tcp.get());
  add("unix", state_->socket.get());
  return places;
}

void HttpServer::take(HttpConnections::Socket socket, bool is_local) {
  (is_local ? state_->local : state_->remote)->take(std::move(socket));
}

void HttpServer::stop() {
  for (const auto& listener : {state_->tcp, state_->socket}) {
    if (listener) listener->stop();
  }
  state_->remote->close();
  state_->local->close();
}

}  // namespace railhead::metrics
