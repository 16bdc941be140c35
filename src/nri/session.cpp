// SPDX-License-Identifier: Apache-2.0
#include "nri/session.h"

#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "nri/backoff.h"
#include "nri/connection.h"
#include "nri/conversation.h"

namespace railhead::nri {

class Session::Impl final : public Connection::Events, public std::enable_shared_from_this<Impl> {
 public:
  Impl(boost::asio::io_context& loop, SessionOptions options, Handler& handler)
      : loop_(loop),
        options_(std::move(options)),
        handler_(handler),
        backoff_(options_.backoff_min, options_.backoff_max, options_.random),
        retry_(loop),
        registration_(loop) {}

  void start() {
    if (running_) return;
    running_ = true;
    connect();
  }

  void stop() {
    running_ = false;
    retry_.cancel();
    end_connection();
  }

  [[nodiscard]] const SessionStats& stats() const { return stats_; }

 private:
  void connect() {
    connection_ = std::make_shared<Connection>(loop_, *this);
    connection_->connect(options_.socket_path);
  }

  void opened(std::optional<int> peer_pid) override {
    watch_registration();
    conversation_ = std::make_shared<Conversation>(
        SessionParts{loop_, options_, handler_, stats_},
        [to = connection_](wire::FramedMessage message) { to->send(std::move(message)); });
    conversation_->begin(peer_pid);
  }

  void watch_registration() {
    registration_.expires_after(options_.registration_wait);
    registration_.async_wait([weak = weak_from_this(), watched = std::weak_ptr(connection_)](
                                 boost::system::error_code error) {
      const auto self = weak.lock();
      if (error || !self || self->connection_ != watched.lock() || self->settled_) return;
      self->lost({ErrorCode::timeout, "nri: the runtime at " + self->options_.socket_path +
                                          " did not complete the registration"});
    });
  }

  void received(std::string_view bytes) override {
    const auto self = shared_from_this();  // a callback may drop the session
    const auto conversation = conversation_;
    const Status status = conversation->receive(bytes);
    if (conversation != conversation_) return;  // stopped by a callback
    if (conversation->synchronized()) settle();
    if (status) return;
    if (status.error().code == ErrorCode::malformed) ++stats_.protocol_errors;
    lost(status.error());
  }

  void settle() {
    if (std::exchange(settled_, true)) return;
    registration_.cancel();
    backoff_.reset();
  }

  void lost(const Error& why) override {
    const auto self = shared_from_this();
    end_connection();
    const auto pause = backoff_.next();
    retry_.expires_after(pause);
    retry_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
      const auto session = weak.lock();
      if (!error && session && session->running_) session->connect();
    });
    handler_.disconnected(why, pause);
  }

  void end_connection() {
    registration_.cancel();
    stats_.connected = false;
    settled_ = false;
    if (conversation_) conversation_->close();
    if (connection_) connection_->close();
    conversation_.reset();
    connection_.reset();
  }

  boost::asio::io_context& loop_;
  const SessionOptions options_;
  Handler& handler_;
  SessionStats stats_;
  Backoff backoff_;
  bool running_ = false;
  bool settled_ = false;  // this connection got as far as Synchronize
  boost::asio::steady_timer retry_;
  boost::asio::steady_timer registration_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Conversation> conversation_;
};

Session::Session(boost::asio::io_context& loop, SessionOptions options, Handler& handler)
    : impl_(std::make_shared<Impl>(loop, std::move(options), handler)) {}

Session::~Session() {
  impl_->stop();
}

void Session::start() {
  impl_->start();
}

void Session::stop() {
  impl_->stop();
}

const SessionStats& Session::stats() const {
  return impl_->stats();
}

}  // namespace railhead::nri
