// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_server.h"

#include <chrono>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "base/text.h"

namespace railhead {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

namespace {

constexpr auto kConnectionDeadline = std::chrono::seconds(10);
constexpr std::size_t kMaxHeaderBytes = 8192;

Result<tcp::endpoint> parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto bad = [&](std::string_view why) {
    return Error{ErrorCode::usage, "bind address " + quoted(text) + ": " + std::string(why)};
  };
  if (colon == std::string::npos) return bad("expected HOST:PORT");
  const auto port = parse_unsigned(std::string_view(text).substr(colon + 1));
  if (!port || *port > 65535) return bad("the port is not 0 to 65535");
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return tcp::endpoint(tcp::v6(), static_cast<std::uint16_t>(*port));
  if (host == "localhost") host = "127.0.0.1";
  beast::error_code failure;
  const auto address = asio::ip::make_address(host, failure);
  if (failure) return bad("the host is not an IP address");
  return tcp::endpoint(address, static_cast<std::uint16_t>(*port));
}

}  // namespace

struct HttpServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& loop, Handler handle)
      : acceptor(loop),
        handler(std::move(handle)) {}

  void accept();

  tcp::acceptor acceptor;
  Handler handler;
  std::size_t connections = 0;
};

namespace {

/// One request, one answer, closed.
template <typename Owner>
class Connection : public std::enable_shared_from_this<Connection<Owner>> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<Owner> owner)
      : stream_(std::move(socket)),
        buffer_(kMaxHeaderBytes),
        owner_(std::move(owner)) {
    ++owner_->connections;
  }

  ~Connection() { --owner_->connections; }

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    stream_.expires_after(kConnectionDeadline);
    http::async_read(stream_, buffer_, request_,
                     [self = this->shared_from_this()](beast::error_code failure, std::size_t) {
                       if (!failure) self->answer();
                     });
  }

 private:
  void answer() {
    const bool head = request_.method() == http::verb::head;
    HttpAnswer answer{405, "only GET and HEAD\n"};
    if (head || request_.method() == http::verb::get) {
      const std::string_view target(request_.target().data(), request_.target().size());
      answer = owner_->handler(target.substr(0, target.find('?')));
    }
    response_.result(answer.status);
    response_.version(request_.version());
    response_.set(http::field::content_type, answer.content_type);
    response_.keep_alive(false);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    if (head) response_.body().clear();
    http::async_write(stream_, response_,
                      [self = this->shared_from_this()](beast::error_code, std::size_t) {
                        beast::error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  http::response<http::string_body> response_;
  std::shared_ptr<Owner> owner_;
};

}  // namespace

void HttpServer::State::accept() {
  acceptor.async_accept([self = shared_from_this()](beast::error_code failure, tcp::socket socket) {
    if (!self->acceptor.is_open()) return;
    if (!failure && self->connections < kMaxConnections) {
      std::make_shared<Connection<State>>(std::move(socket), self)->start();
    }
    self->accept();
  });
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(asio::io_context& loop,
                                                       const std::string& address,
                                                       Handler handler) {
  const auto endpoint = TRY(parse_address(address));
  auto state = std::make_shared<State>(loop, std::move(handler));
  beast::error_code failure;
  state->acceptor.open(endpoint.protocol(), failure);
  if (!failure) state->acceptor.set_option(tcp::acceptor::reuse_address(true), failure);
  if (!failure) state->acceptor.bind(endpoint, failure);
  if (!failure) state->acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) {
    return Error{ErrorCode::unavailable, "listening on " + address + ": " + failure.message()};
  }
  state->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::HttpServer(std::shared_ptr<State> state)
    : state_(std::move(state)) {}

HttpServer::~HttpServer() {
  stop();
}

std::string HttpServer::address() const {
  beast::error_code failure;
  const auto endpoint = state_->acceptor.local_endpoint(failure);
  if (failure) return "";
  const auto host = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

void HttpServer::stop() {
  beast::error_code ignored;
  state_->acceptor.close(ignored);
}

}  // namespace railhead
