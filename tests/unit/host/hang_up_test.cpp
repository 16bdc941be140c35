// SPDX-License-Identifier: Apache-2.0
#include "host/hang_up.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "host/unique_fd.h"
#include "unit/host/temporary_directory.h"

namespace railhead::host {
namespace {

/// A listener, and one connection to it.
struct Line {
  explicit Line(const std::string& path)
      : listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        caller(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    const auto* where = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), where, sizeof(address)), 0);
    EXPECT_EQ(::listen(listener.get(), 4), 0);
    EXPECT_EQ(::connect(caller.get(), where, sizeof(address)), 0);
    called.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

  UniqueFd listener;
  UniqueFd caller;
  UniqueFd called;
};

/// What the other side reads: the bytes that are there, then "end" or "open".
std::string read_by(const UniqueFd& caller) {
  std::string text;
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::recv(caller.get(), &byte, 1, MSG_DONTWAIT)) == 1) text += byte;
  return text + (got == 0 ? "end" : "open");
}

TEST(HangUp, ends_what_was_accepted_there_and_leaves_what_was_written) {
  const test::TemporaryDirectory directory;
  const Line line(directory / "a.sock");
  const Line other(directory / "a.sock2");
  ASSERT_EQ(::send(line.called.get(), "bye ", 4, 0), 4);
  hang_up(directory / "a.sock");
  EXPECT_EQ(read_by(line.caller), "bye end");
  EXPECT_EQ(read_by(other.caller), "open");
  EXPECT_EQ(::send(line.called.get(), "more", 4, MSG_NOSIGNAL), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST(HangUp, leaves_the_listener_to_those_who_come_later) {
  const test::TemporaryDirectory directory;
  const Line line(directory / "a.sock");
  hang_up(directory / "a.sock");
  sockaddr_un address{};
  socklen_t size = sizeof(address);
  ASSERT_EQ(::getsockname(line.listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const UniqueFd later(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(later.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
}

TEST(HangUp, frees_a_writer_whose_reader_does_nothing) {
  const test::TemporaryDirectory directory;
  const Line line(directory / "a.sock");
  const DelayedHangUp soon(directory / "a.sock", std::chrono::milliseconds(1));
  const std::string much(64 << 10, 'x');
  while (::send(line.called.get(), much.data(), much.size(), MSG_NOSIGNAL) > 0) {
  }
  EXPECT_EQ(errno, EPIPE);
}

TEST(HangUp, does_nothing_where_its_own_end_comes_first) {
  const test::TemporaryDirectory directory;
  const Line line(directory / "a.sock");
  { const DelayedHangUp late(directory / "a.sock", std::chrono::hours(1)); }
  EXPECT_EQ(read_by(line.caller), "open");
}

}  // namespace
}  // namespace railhead::host
