// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/version.hpp>

#if defined(BOOST_ASIO_HAS_EPOLL) && !defined(BOOST_ASIO_HAS_IO_URING_AS_DEFAULT) && \
    BOOST_VERSION >= 107500 && BOOST_VERSION < 109000
#define RAILHEAD_ASIO_EPOLL
#include <boost/asio/detail/epoll_reactor.hpp>
#include <boost/asio/detail/reactor_op.hpp>
#endif

namespace railhead::nri {

/// A stream socket that can wait for its next bytes without a system call.
///
/// Asio registers a socket with epoll once, edge-triggered. Yet each of its waits costs a call:
/// async_read_some tries recv first, which after an answer is always in vain, and async_wait
/// registers anew. Asio has no public way to wait for the next edge without a call. So this uses
/// Asio's reactor itself, in the Boost releases whose reactor is known, and async_wait in others.
class TrunkSocket : public boost::asio::local::stream_protocol::socket {
 public:
  explicit TrunkSocket(boost::asio::io_context& loop)
      : basic_stream_socket(loop),
        loop_(loop) {}

  /// Calls `handler` with an error code when new bytes come or the peer hangs up. Only news counts:
  /// bytes that were there when this turn of the loop began have to be read in the same turn.
  template <typename Handler>
  void async_wait_edge(Handler handler);

 private:
  boost::asio::io_context& loop_;
};

#ifdef RAILHEAD_ASIO_EPOLL

/// In the reactor's queue until the edge; then the scheduler calls complete(), once.
template <typename Handler>
class EdgeWait : public boost::asio::detail::reactor_op {
 public:
  using Code = boost::system::error_code;

  explicit EdgeWait(Handler handler)
      : reactor_op(Code(), &EdgeWait::perform, &EdgeWait::complete),
        handler_(std::move(handler)) {}

  bool queueing = true;  ///< start_op would try it first

 private:
  static status perform(reactor_op* base) {
    return static_cast<EdgeWait*>(base)->queueing ? not_done : done;
  }

  /// `owner` is null while the loop is being destroyed.
  static void complete(void* owner, boost::asio::detail::operation* base, const Code& /*result*/,
                       std::size_t /*bytes*/) {
    const std::unique_ptr<EdgeWait> self(static_cast<EdgeWait*>(base));
    if (owner != nullptr) self->handler_(self->ec_);
  }

  Handler handler_;
};

template <typename Handler>
void TrunkSocket::async_wait_edge(Handler handler) {
  namespace detail = boost::asio::detail;
  auto& implementation = impl_.get_implementation();
  auto* const wait = new EdgeWait<Handler>(std::move(handler));  // the reactor's, then complete()'s
  boost::asio::use_service<detail::epoll_reactor>(
      static_cast<boost::asio::execution_context&>(loop_))
      .start_op(detail::epoll_reactor::read_op, implementation.socket_,
                implementation.reactor_data_, wait, /*is_continuation=*/true,
                /*allow_speculative=*/true);
  wait->queueing = false;
}

#else

template <typename Handler>
void TrunkSocket::async_wait_edge(Handler handler) {
  async_wait(wait_read, std::move(handler));
}

#endif

}  // namespace railhead::nri
