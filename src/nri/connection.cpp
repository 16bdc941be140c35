// SPDX-License-Identifier: Apache-2.0
#include "nri/connection.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include "host/memory.h"

namespace railhead::nri {
namespace {

namespace asio = boost::asio;

// A runtime that sends without a pause must not keep everything else on the loop waiting.
constexpr int kReadsInATurn = 64;

constexpr std::chrono::milliseconds kLookAgainAfter{250};

// After so many reads it is worth a moment to give back what they needed.
constexpr std::uint64_t kManyReads = 64;

// SO_PEERCRED as Asio's GettableSocketOption.
class PeerCredentials {
 public:
  template <typename Protocol>
  [[nodiscard]] int level(const Protocol& /*protocol*/) const {
    return SOL_SOCKET;
  }

  template <typename Protocol>
  [[nodiscard]] int name(const Protocol& /*protocol*/) const {
    return SO_PEERCRED;
  }

  template <typename Protocol>
  [[nodiscard]] ucred* data(const Protocol& /*protocol*/) {
    return &credentials_;
  }

  template <typename Protocol>
  [[nodiscard]] std::size_t size(const Protocol& /*protocol*/) const {
    return sizeof credentials_;
  }

  template <typename Protocol>
  void resize(const Protocol& /*protocol*/, std::size_t /*size*/) {}

  [[nodiscard]] std::optional<int> pid() const {
    return credentials_.pid > 0 ? std::optional<int>(credentials_.pid) : std::nullopt;
  }

 private:
  ucred credentials_{};
};

Error error_from(const boost::system::error_code& code, const std::string& doing) {
  const bool denied = code == asio::error::access_denied || code == asio::error::no_permission;
  return {denied ? ErrorCode::denied : ErrorCode::unavailable,
          "nri: " + doing + ": " + code.message()};
}

}  // namespace

Connection::Connection(asio::io_context& loop, Events& events)
    : loop_(loop),
      events_(&events),
      socket_(loop),
      look_again_(loop) {}

void Connection::connect(const std::string& path) {
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) {
    fail({ErrorCode::usage, "nri: no unix socket can have the path \"" + path + "\""});
    return;
  }
  socket_.async_connect(path, [self = shared_from_this(), path](const Code& code) {
    if (self->events_ == nullptr || self->failed_) return;
    if (code) return self->fail(error_from(code, "connecting to " + path));
    Code ignored;
    self->socket_.non_blocking(true, ignored);
    PeerCredentials peer;
    self->socket_.get_option(peer, ignored);
    self->events_->opened(peer.pid());
    if (self->events_ != nullptr) self->read();
  });
}

void Connection::read() {
  for (int i = 0; i < kReadsInATurn; ++i) {
    if (events_ == nullptr || failed_) return;
    Code code;
    const std::size_t bytes = socket_.read_some(asio::buffer(input_), code);
    if (code == asio::error::would_block || code == asio::error::try_again) return wait_for_bytes();
    if (code == asio::error::interrupted) continue;
    if (code == asio::error::eof) {
      return fail({ErrorCode::unavailable, "nri: the runtime closed the connection"});
    }
    if (code) return fail(error_from(code, "reading from the runtime"));
    ++reads_;
    events_->received({input_.data(), bytes});
    if (bytes < input_.size()) {
      look_again_later();
      return wait_for_bytes();
    }
  }
  asio::post(loop_, [self = shared_from_this()] { self->read(); });
}

void Connection::wait_for_bytes() {
  if (events_ == nullptr || failed_ || waiting_to_read_) return;
  waiting_to_read_ = true;
  socket_.async_wait_edge([self = shared_from_this()](const Code& code) {
    self->waiting_to_read_ = false;
    if (self->events_ == nullptr || self->failed_) return;
    if (code) return self->fail(error_from(code, "reading from the runtime"));
    self->read();
  });
}

void Connection::look_again_later() {
  if (events_ == nullptr || failed_ || looking_again_) return;
  looking_again_ = true;
  look_again_.expires_after(kLookAgainAfter);
  look_again_.async_wait([self = shared_from_this(), reads = reads_](const Code& code) {
    self->looking_again_ = false;
    if (code) return;
    self->read();
    self->reads_ == reads ? self->tidy_up() : self->look_again_later();
  });
}

/// Nothing has come for a moment.
void Connection::tidy_up() {
  if (reads_ - tidied_at_ < kManyReads) return;
  tidied_at_ = reads_;
  host::give_back_free_memory();
  host::give_back_code_pages();
}

void Connection::send(wire::FramedMessage message) {
  if (failed_ || events_ == nullptr) return;
  waiting_bytes_ += message.size();
  waiting_frames_ += message.frames;
  waiting_.push_back(std::move(message));
  if (!waiting_to_write_) flush();
  if (waiting_frames_ > kMaxWaitingFrames || waiting_bytes_ > kMaxWaitingBytes) {
    fail({ErrorCode::too_large, "nri: the runtime does not read its answers"});
  }
}

void Connection::flush() {
  while (!waiting_.empty()) {
    const Code code = write_some();
    if (code == asio::error::would_block || code == asio::error::try_again) break;
    if (code == asio::error::interrupted) continue;
    if (code) return fail(error_from(code, "writing to the runtime"));
  }
  if (waiting_.empty()) return;
  waiting_to_write_ = true;
  socket_.async_wait(socket_.wait_write, [self = shared_from_this()](const Code& code) {
    self->waiting_to_write_ = false;
    if (self->events_ == nullptr || self->failed_) return;
    if (code) return self->fail(error_from(code, "writing to the runtime"));
    self->flush();
  });
}

Connection::Code Connection::write_some() {
  const wire::FramedMessage& front = waiting_.front();
  const std::size_t head_done = std::min(written_of_front_, front.head_size);
  const std::size_t body_done = written_of_front_ - head_done;
  const std::array buffers = {
      asio::const_buffer(front.head_bytes.data() + head_done, front.head_size - head_done),
      asio::const_buffer(front.body.data() + body_done, front.body.size() - body_done)};
  Code code;
  drop_written(socket_.write_some(buffers, code));
  return code;
}

void Connection::drop_written(std::size_t bytes) {
  written_of_front_ += bytes;
  waiting_bytes_ -= bytes;
  if (written_of_front_ < waiting_.front().size()) return;
  waiting_frames_ -= waiting_.front().frames;
  waiting_.pop_front();
  written_of_front_ = 0;
}

void Connection::fail(Error why) {
  if (failed_) return;
  failed_ = true;
  look_again_.cancel();
  Code ignored;
  socket_.close(ignored);
  asio::post(loop_, [self = shared_from_this(), why = std::move(why)] {
    if (self->events_ != nullptr) self->events_->lost(why);
  });
}

void Connection::close() {
  events_ = nullptr;
  look_again_.cancel();
  Code ignored;
  socket_.close(ignored);
}

}  // namespace railhead::nri
