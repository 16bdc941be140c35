// SPDX-License-Identifier: Apache-2.0
#include "metrics/http_listener.h"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "host/input_file.h"
#include "loop/call_after.h"

namespace railhead::metrics {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using Protocol = asio::generic::stream_protocol;

namespace {

/// So many of those who wait are refused before the next pause.
constexpr int kMostRefused = 64;
/// A shortage that comes and goes is reported so often at most.
constexpr auto kReportAgain = std::chrono::minutes(1);

/// /run is empty after each boot, so the folder is ours to make. The error names what is missing.
Result<host::UniqueFd> listen_at(const std::string& path, std::optional<host::LocalSocket>& place) {
  place.reset();  // of a try that came to nothing
  const auto slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0)
    TRY_STATUS(host::make_folders(path.substr(0, slash)));
  place.emplace(TRY(host::LocalSocket::listen(path)));
  return place->take();
}

}  // namespace

HttpListener::HttpListener(Parts parts, std::string wanted)
    : parts_(std::move(parts)),
      wanted_(std::move(wanted)),
      acceptor_(parts_.loop),
      reserve_(parts_.loop),
      timer_(parts_.loop),
      report_timer_(parts_.loop),
      retry_in_(parts_.times.first_retry),
      pause_(parts_.times.first_pause) {}

void HttpListener::stop() {
  is_stopped_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  timer_.cancel();
  report_timer_.cancel();
}

void HttpListener::opened(Acceptor acceptor, std::string address) {
  acceptor_ = std::move(acceptor);
  error_code ignored;
  acceptor_.non_blocking(true, ignored);
  reserve_.open(Protocol(asio::local::stream_protocol()), ignored);
  retry_in_ = parts_.times.first_retry;
  problem_.clear();
  address_ = std::move(address);
  parts_.report({HttpNews::Kind::listening, address_, ""});
  accept();
}

void HttpListener::failed(const std::string& why) {
  if (problem_ != why) parts_.report({HttpNews::Kind::not_listening, wanted_, why});
  problem_ = why;
  loop::call_after(timer_, retry_in_, [self = shared_from_this()] {
    if (!self->is_stopped_) self->try_listen();
  });
  retry_in_ = std::min(2 * retry_in_, parts_.times.longest_retry);
}

void HttpListener::accept() {
  acceptor_.async_accept(
      [self = shared_from_this()](error_code failure, HttpConnections::Socket socket) {
        if (self->is_stopped_) return;
        if (failure && failure != asio::error::connection_aborted) {
          return self->pause(failure.message());
        }
        if (!failure) {
          self->pause_ = self->parts_.times.first_pause;
          self->parts_.connections->take(std::move(socket));
        }
        self->accept();
      });
}

/// accept(2) that fails for want of a descriptor or memory would fail again at once, for ever: the
/// connection still waits.
void HttpListener::pause(const std::string& why) {
  if (!was_pause_reported_) {
    was_pause_reported_ = true;
    parts_.report({HttpNews::Kind::pausing, address_, why});
    loop::call_after(report_timer_, kReportAgain,
                     [self = shared_from_this()] { self->was_pause_reported_ = false; });
  }
  refuse_waiting();
  loop::call_after(timer_, pause_, [self = shared_from_this()] {
    if (!self->is_stopped_) self->accept();
  });
  pause_ = std::min(2 * pause_, parts_.times.longest_pause);
}

/// With the one descriptor that was kept for this: who is refused can try again, who hangs cannot.
void HttpListener::refuse_waiting() {
  error_code failure;
  reserve_.close(failure);
  for (int i = 0; i < kMostRefused && !failure; ++i) {
    HttpConnections::Socket refused(loop());
    acceptor_.accept(refused, failure);
  }
  reserve_.open(Protocol(asio::local::stream_protocol()), failure);
}

TcpListener::TcpListener(Parts parts, HttpAddress address, bool has_ipv6)
    : HttpListener(std::move(parts), address.text),
      listen_on_(std::move(address)),
      has_ipv6_(has_ipv6) {}

void TcpListener::try_listen() {
  tcp::endpoint endpoint = listen_on_.endpoint;
  Acceptor acceptor(loop());
  error_code failure = asio::error::address_family_not_supported;
  if (has_ipv6_ || !endpoint.address().is_v6()) acceptor.open(endpoint.protocol(), failure);
  if (failure == asio::error::address_family_not_supported && listen_on_.is_any) {
    endpoint = tcp::endpoint(tcp::v4(), endpoint.port());
    acceptor.open(endpoint.protocol(), failure);
  }
  if (!failure) acceptor.set_option(asio::socket_base::reuse_address(true), failure);
  if (!failure && listen_on_.is_any && endpoint.address().is_v6()) {
    acceptor.set_option(asio::ip::v6_only(false), failure);
  }
  if (!failure) acceptor.bind(endpoint, failure);
  if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) return failed(failure.message());
  const Protocol::endpoint bound = acceptor.local_endpoint(failure);
  if (!failure && bound.size() <= endpoint.capacity()) {
    std::copy_n(reinterpret_cast<const char*>(bound.data()), bound.size(),
                reinterpret_cast<char*>(endpoint.data()));
  }
  opened(std::move(acceptor), to_text(endpoint));
}

UnixListener::UnixListener(Parts parts, std::string path, loop::Mailbox* files, loop::Mailbox* mail)
    : HttpListener(std::move(parts), "unix:" + path),
      path_(std::move(path)),
      files_(mail == nullptr ? nullptr : files),
      mail_(mail),
      place_(std::make_shared<std::optional<host::LocalSocket>>()) {}

void UnixListener::try_listen() {
  if (files_ == nullptr) return take(listen_at(path_, *place_));
  files_->post([path = path_, place = place_, mail = mail_, weak = weak_from_this()] {
    auto listener = std::make_shared<Result<host::UniqueFd>>(listen_at(path, *place));
    mail->post([weak, listener] {
      const auto self = std::static_pointer_cast<UnixListener>(weak.lock());
      if (self != nullptr && !self->is_stopped()) self->take(std::move(*listener));
    });
  });
}

void UnixListener::take(Result<host::UniqueFd> listener) {
  if (!listener) return failed(listener.error().message);
  Acceptor acceptor(loop());
  error_code failure;
  acceptor.assign(Protocol(asio::local::stream_protocol()), listener->get(), failure);
  if (failure) return failed(failure.message());
  listener->release();
  opened(std::move(acceptor), wanted());
}

void UnixListener::stop() {
  if (is_stopped()) return;
  HttpListener::stop();
  if (files_ == nullptr) return place_->reset();
  files_->post([place = place_] { place->reset(); });
}

}  // namespace railhead::metrics
