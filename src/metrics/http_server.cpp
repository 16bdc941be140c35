// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_server.h"

#include <utility>

namespace railhead {

struct HttpServer::State {
  std::shared_ptr<HttpConnections> remote;
  std::shared_ptr<HttpConnections> local;
  std::shared_ptr<HttpListener> tcp;
  std::shared_ptr<HttpListener> socket;
};

Result<std::unique_ptr<HttpServer>> HttpServer::open(boost::asio::io_context& loop,
                                                     HttpOptions options, HttpHandler handler) {
  auto state = std::make_unique<State>();
  state->remote = std::make_shared<HttpConnections>(handler, false);
  state->local = std::make_shared<HttpConnections>(std::move(handler), true);
  if (!options.report) options.report = [](const HttpNews&) {};
  if (!options.address.empty()) {
    const auto address = TRY(parse_http_address(options.address));
    state->tcp = std::make_shared<TcpListener>(loop, address, options.times, options.report,
                                               state->remote, options.address, options.has_ipv6);
  }
  if (!options.socket.empty()) {
    state->socket =
        std::make_shared<UnixListener>(loop, options.socket, options.times, options.report,
                                       state->local, options.files, options.mail);
  }
  if (state->tcp) state->tcp->start();
  if (state->socket) state->socket->start();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::HttpServer(std::unique_ptr<State> state)
    : state_(std::move(state)) {}

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

}  // namespace railhead
