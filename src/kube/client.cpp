// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/system_error.hpp>

#include "base/text.h"
#include "data/below.h"
#include "kube/http_answer.h"
#include "kube/tls.h"
#include "loop/call_after.h"

namespace railhead::kube {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using beast::error_code;

namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{16} << 10;

http::verb http_verb(Verb verb) {
  switch (verb) {
    case Verb::get: return http::verb::get;
    case Verb::post: return http::verb::post;
    case Verb::patch: return http::verb::patch;
  }
  return http::verb::unknown;
}

/// Lives as long as an operation of it is under way.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  struct Answering {
    AnswerLimits limits;
    Client::Done done;
  };

  Exchange(asio::io_context& loop, Access access, const Request& request, Answering answering)
      : access_(std::move(access)),
        what_(std::string(to_string(request.verb)) + " " + request.target),
        limits_(answering.limits),
        done_(std::move(answering.done)),
        resolver_(loop),
        deadline_(loop),
        context_(TlsContext::tls_client),
        buffer_(std::size_t{64} << 10) {
    set_limits(parser_, limits_.bytes);
    fill(request);
  }

 private:
  /// A step that ends with `next`, or with the exchange.
  template <typename Next>
  auto then(const char* doing, Next next) {
    return [self = shared_from_this(), doing, next](const error_code& failure, auto&&...) {
      if (failure) return self->fail(doing, failure);
      if (self->done_) next(*self);
    };
  }

 public:
  void start() {
    loop::call_after(deadline_, limits_.time, [self = shared_from_this()] {
      self->finish(Error{ErrorCode::timeout,
                         self->what_ + " at " + self->place() + ": no whole answer within " +
                             std::to_string(self->limits_.time.count()) + " ms"});
    });
    const auto ready = prepare();
    if (!ready) return finish(ready.error().context(what_ + " at " + place()));
    error_code is_name;
    const auto address = asio::ip::make_address(access_.host, is_name);
    const auto port = static_cast<std::uint16_t>(parse_unsigned(access_.port).value_or(0U));
    if (!is_name) {
      return socket().async_connect(tcp::endpoint(address, port),
                                    then("connect", [](auto& self) { self.shake_hands(); }));
    }
    look_up();
  }

 private:
  /// Asio starts a thread for it.
  void look_up() {
    try {
      resolver_.async_resolve(access_.host, access_.port, tcp::resolver::numeric_service,
                              [self = shared_from_this()](const auto& failure, const auto& places) {
                                if (failure) return self->fail("name lookup", failure);
                                self->connect(places);
                              });
    } catch (const boost::system::system_error& why) {
      fail("name lookup", why.code());
    }
  }

  /// The request as it goes over the wire.
  void fill(const Request& request) {
    request_.version(11);
    request_.method(http_verb(request.verb));
    request_.target(access_.prefix + request.target);
    request_.set(http::field::host, place());
    request_.set(http::field::user_agent, "railhead");
    request_.set(http::field::accept, "application/json");
    if (!access_.token.empty()) request_.set(http::field::authorization, "Bearer " + access_.token);
    if (!request.content_type.empty()) {
      request_.set(http::field::content_type, request.content_type);
    }
    request_.body() = request.body;
    request_.keep_alive(false);
    request_.prepare_payload();
  }

  [[nodiscard]] std::string place() const {
    const bool is_ipv6 = access_.host.find(':') != std::string::npos;
    return (is_ipv6 ? "[" + access_.host + "]" : access_.host) + ":" + access_.port;
  }

  Status prepare() {
    TRY_STATUS(kube::prepare(context_, access_));
    stream_.emplace(resolver_.get_executor(), context_);  // takes over what the context has by now
    return demand_identity(*stream_, access_.server_name);
  }

  beast::tcp_stream& socket() { return beast::get_lowest_layer(*stream_); }

  void connect(const tcp::resolver::results_type& places) {
    if (!done_) return;
    socket().async_connect(places, then("connect", [](auto& self) { self.shake_hands(); }));
  }

  void shake_hands() {
    stream_->async_handshake(asio::ssl::stream_base::client,
                             then("TLS", [](auto& self) { self.write(); }));
  }

  void write() {
    http::async_write(*stream_, request_, then("send", [](auto& self) { self.read(); }));
  }

  void read() {
    http::async_read(*stream_, buffer_, parser_,
                     then("answer", [](auto& self) { self.finish(answer_in(self.parser_)); }));
  }

  void fail(const char* doing, const error_code& failure) {
    const bool is_limit = failure == http::error::body_limit ||
                          failure == http::error::header_limit ||
                          failure == http::error::buffer_overflow;
    const auto problem = certificate_problem(*stream_);
    finish(
        Error{is_limit ? ErrorCode::too_large : ErrorCode::unavailable,
              what_ + " at " + place() + ": " + doing + ": " +
                  (problem.empty() ? failure.message()
                                   : "certificate for " + access_.server_name + ": " + problem)});
  }

  void finish(Result<Answer> result) {
    if (!done_) return;
    const auto done = std::exchange(done_, nullptr);
    deadline_.cancel();
    resolver_.cancel();
    if (stream_) socket().close();
    done(std::move(result));
  }

  Access access_;
  std::string what_;
  AnswerLimits limits_;
  Client::Done done_;  ///< null once it is over
  tcp::resolver resolver_;
  asio::steady_timer deadline_;
  TlsContext context_;
  std::optional<TlsStream> stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  HttpAnswerParser parser_;
};

}  // namespace

void set_limits(HttpAnswerParser& parser, std::size_t body_bytes) {
  parser.header_limit(kMaxHeaderBytes);
  parser.body_limit(body_bytes);
}

Answer answer_in(HttpAnswerParser& parser) {
  auto& message = parser.get();
  Answer answer{message.result_int(), std::move(message.body()), {}};
  const auto wait = message[http::field::retry_after];
  const auto seconds = parse_unsigned({wait.data(), wait.size()});
  constexpr std::uint64_t kDay = 86400;  // longer is no reason to wait longer
  if (seconds) answer.retry_after = std::chrono::seconds(std::min(*seconds, kDay));
  return answer;
}

Client::Client(asio::io_context& loop, ReadAccess read_access, AnswerLimits limits)
    : loop_(loop),
      read_access_(std::move(read_access)),
      limits_(limits) {}

void Client::send(const Request& request, const Done& done) {
  auto guarded = [done, alive = std::weak_ptr(alive_)](Result<Answer> result) {
    if (!alive.expired()) done(std::move(result));
  };
  auto access = read_access_();
  if (!access) {
    return asio::post(loop_, [guarded, why = access.error()] { guarded(why); });
  }
  const auto exchange = std::make_shared<Exchange>(loop_, std::move(access).value(), request,
                                                   Exchange::Answering{limits_, guarded});
  exchange->start();
}

Result<Answer> ask(const Access& access, const Request& request, AnswerLimits limits) {
  asio::io_context loop{1};
  Client client(
      loop, [&] { return access; }, limits);
  std::optional<Result<Answer>> answer;
  client.send(request, [&](Result<Answer> result) {
    answer = std::move(result);
    loop.stop();
  });
  loop.run();
  return *std::move(answer);
}

}  // namespace railhead::kube
