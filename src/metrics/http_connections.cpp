// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_connections.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <chrono>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "loop/call_after.h"

namespace railhead::metrics {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

namespace {

constexpr auto kDeadline = std::chrono::seconds(10);
constexpr auto kLookAtReader = std::chrono::milliseconds(50);
constexpr std::size_t kMaxHeaderBytes = 8192;

std::string_view plain(beast::string_view text) {
  return {text.data(), text.size()};
}

/// Empty where the peer is gone already.
asio::generic::stream_protocol::endpoint remote_endpoint(const HttpConnections::Socket& socket) {
  beast::error_code gone;
  return socket.remote_endpoint(gone);
}

/// What was written to a socket and its peer has not taken: of TCP not acknowledged (tcp(7)), of a
/// Unix socket not read (unix(7)). 0 where it cannot be known, and where the peer has reset the
/// connection: TCP counts on then.
int not_taken(HttpConnections::Socket& socket) {
  int failure = 0;
  socklen_t size = sizeof failure;
  const int descriptor = socket.native_handle();
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) != 0 || failure != 0) {
    return 0;
  }
  int bytes = 0;
  return ::ioctl(descriptor, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

}  // namespace

/// Lives as long as something of it is under way.
class HttpConnections::Connection : public HttpPlaces::Client,
                                    public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, std::shared_ptr<HttpConnections> owner)
      : Client(peer_of(remote_endpoint(socket))),
        socket_(std::move(socket)),
        buffer_(kMaxHeaderBytes),
        deadline_(socket_.get_executor()),
        look_at_reader_(socket_.get_executor()),
        owner_(std::move(owner)) {
    parser_.header_limit(kMaxHeaderBytes);
  }

  ~Connection() override { leave(); }

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    loop::call_after(deadline_, kDeadline, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->close();
    });
    http::async_read_header(socket_, buffer_, parser_,
                            [self = shared_from_this()](beast::error_code failure, std::size_t) {
                              if (!failure) self->answer();
                            });
  }

 private:
  /// What is under way ends with an error, and with it the connection.
  void close() override {
    look_at_reader_.cancel();
    beast::error_code ignored;
    socket_.close(ignored);
  }

  /// Whether the kernel drops what was not taken when the socket is closed (socket(7), SO_LINGER),
  /// and does not keep it for a reader who may never come.
  void drop_at_close(bool drops) {
    beast::error_code ignored;
    socket_.set_option(asio::socket_base::linger(drops, 0), ignored);
  }

  [[nodiscard]] HttpAnswer answer_to(const http::request<http::empty_body>& request) const {
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return {405, "only GET and HEAD\n"};
    }
    const auto target = plain(request.target());
    return owner_->handler_({target.substr(0, target.find('?')),
                             plain(request[http::field::authorization]), owner_->is_local_});
  }

  void answer() {
    if (!has_place()) return;
    const auto& request = parser_.get();
    HttpAnswer answer = answer_to(request);
    owner_->answering_.admit(*this, answer.body.size());
    keep_little_in_kernel();
    response_.result(answer.status);
    response_.version(request.version());
    response_.set(http::field::content_type, answer.content_type);
    response_.keep_alive(false);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    if (request.method() == http::verb::head) response_.body().clear();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](beast::error_code failure, std::size_t) {
                        if (failure || !self->has_place()) return;
                        beast::error_code ignored;
                        self->socket_.shutdown(Socket::shutdown_send, ignored);
                        self->await_reader();
                      });
  }

  void keep_little_in_kernel() {
    beast::error_code ignored;
    socket_.set_option(asio::socket_base::send_buffer_size(kMostInKernel), ignored);
    drop_at_close(true);
  }

  void await_reader() {
    if (!has_place()) return;
    if (not_taken(socket_) == 0) return drop_at_close(false);
    loop::call_after(look_at_reader_, kLookAtReader,
                     [self = shared_from_this()] { self->await_reader(); });
  }

  Socket socket_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
  asio::steady_timer deadline_;
  asio::steady_timer look_at_reader_;
  std::shared_ptr<HttpConnections> owner_;
};

void HttpConnections::take(Socket socket) {
  if (!handler_) return;
  const auto connection = std::make_shared<Connection>(std::move(socket), shared_from_this());
  reading_.admit(*connection);
  connection->start();
}

void HttpConnections::close() {
  reading_.close_all();
  answering_.close_all();
  handler_ = nullptr;
}

}  // namespace railhead::metrics
