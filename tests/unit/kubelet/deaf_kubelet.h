// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "host/unique_fd.h"

namespace railhead::kubelet::test {

/// The connection of a kubelet that asks for the list and was then stopped: it allows all to be
/// sent, and reads nothing. HTTP/2 by hand (RFC 9113), for a library would read.
class DeafKubelet {
 public:
  explicit DeafKubelet(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, address.sun_path);
    EXPECT_EQ(
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }

  /// Opens ListAndWatch.
  void watch() {
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    send(frame(kSettings, 0, 0, std::string("\0\4\x7f\xff\xff\xff", 6)));  // a stream's window
    send(frame(kWindowUpdate, 0, 0, std::string("\x7f\xff\0\0", 4)));
    const std::string headers = std::string("\x83\x86") +  // POST, http: RFC 7541 appendix A
                                field("\4", "/v1beta1.DevicePlugin/ListAndWatch") +
                                field("\1", "localhost") + literal("te", "trailers") +
                                literal("content-type", "application/grpc");
    send(frame(kHeaders, kEndHeaders, 1, headers));
    send(frame(kData, kEndStream, 1, std::string(5, '\0')));  // an empty message
  }

  /// Until something has come that it could read.
  void wait_for_bytes() {
    pollfd wanted{socket_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&wanted, 1, -1), 1);
  }

 private:
  static constexpr char kData = 0;
  static constexpr char kHeaders = 1;
  static constexpr char kSettings = 4;
  static constexpr char kWindowUpdate = 8;
  static constexpr char kEndStream = 1;
  static constexpr char kEndHeaders = 4;

  static std::string frame(char type, char flags, char stream, const std::string& payload) {
    const auto size = payload.size();
    return std::string{0, static_cast<char>(size >> 8), static_cast<char>(size), type, flags} +
           std::string{0, 0, 0, stream} + payload;
  }

  static std::string text(std::string_view value) {
    return static_cast<char>(value.size()) + std::string(value);
  }

  /// `name` as a number of the static table.
  static std::string field(const std::string& name, std::string_view value) {
    return name + text(value);
  }

  static std::string literal(std::string_view name, std::string_view value) {
    return std::string(1, '\0') + text(name) + text(value);
  }

  void send(const std::string& bytes) {
    EXPECT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  host::UniqueFd socket_;
};

}  // namespace railhead::kubelet::test
