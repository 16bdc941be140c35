// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <memory>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "runtime_bytes.h"

namespace railhead::nri {

/// The runtime's end of a unix socket, driven by the test; nothing here waits.
class FakeRuntime {
 public:
  explicit FakeRuntime(boost::asio::io_context& loop)
      : loop_(loop),
        acceptor_(loop),
        trunk_(loop) {
    std::string pattern = "/tmp/railhead-nri-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }

  FakeRuntime(const FakeRuntime&) = delete;
  FakeRuntime& operator=(const FakeRuntime&) = delete;

  ~FakeRuntime() {
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }

  [[nodiscard]] std::string path() const { return folder_ + "/nri.sock"; }

  void listen() {
    ::unlink(path().c_str());
    acceptor_ = Protocol::acceptor(loop_, path());
    acceptor_.non_blocking(true);
  }

  void stop_listening() {
    acceptor_.close();
    ::unlink(path().c_str());
  }

  /// True once a plugin is connected.
  bool accept() {
    boost::system::error_code error;
    trunk_ = Protocol::socket(loop_);
    acceptor_.accept(trunk_, error);
    if (!error) trunk_.non_blocking(true);
    received_.clear();
    return !error;
  }

  /// As much as fits; the number of bytes taken.
  std::size_t send(const std::string& bytes) {
    boost::system::error_code error;
    return trunk_.write_some(boost::asio::buffer(bytes), error);
  }

  /// Reads what is there; true while the plugin keeps the connection.
  bool receive() {
    char buffer[65536];
    boost::system::error_code error;
    for (;;) {
      const std::size_t count = trunk_.read_some(boost::asio::buffer(buffer), error);
      if (error) return error == boost::asio::error::would_block;
      received_.append(buffer, count);
    }
  }

  std::string& received() { return received_; }

  void hang_up() { trunk_.close(); }

  void stop_sending() { trunk_.shutdown(Protocol::socket::shutdown_send); }

 private:
  using Protocol = boost::asio::local::stream_protocol;

  boost::asio::io_context& loop_;
  std::string folder_;
  Protocol::acceptor acceptor_;
  Protocol::socket trunk_;
  std::string received_;
};

/// Runs the loop until `condition` holds; false when it never does.
template <typename Condition>
bool run_until(boost::asio::io_context& loop, Condition condition) {
  constexpr int kTurns = 20'000;
  for (int i = 0; i < kTurns; ++i) {
    if (condition()) return true;
    if (loop.stopped()) loop.restart();
    loop.run_one_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace railhead::nri
