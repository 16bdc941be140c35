// SPDX-License-Identifier: Apache-2.0
#include "host/local_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "unit/host/temporary_directory.h"

namespace railhead::host {
namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool can_connect(const std::string& path) {
  const UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = address_of(path);
  return ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// A socket of another program, listening or left behind.
UniqueFd foreign_socket(const std::string& path) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = address_of(path);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(socket.get(), 1), 0);
  return socket;
}

class LocalSocketTest : public testing::Test {
 protected:
  test::TemporaryDirectory directory_;
  std::string path_ = directory_ / "agent.sock";
};

TEST_F(LocalSocketTest, only_its_user_may_connect_and_it_goes_with_its_owner) {
  {
    auto socket = LocalSocket::listen(path_);
    ASSERT_TRUE(socket) << socket.error().message;

    struct stat facts {};

    ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0600U);
    EXPECT_TRUE(can_connect(path_));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(LocalSocketTest, takes_the_place_of_one_that_was_left_behind) {
  foreign_socket(path_).reset();
  ASSERT_TRUE(std::filesystem::exists(path_));
  auto socket = LocalSocket::listen(path_);
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_TRUE(can_connect(path_));
}

TEST_F(LocalSocketTest, never_takes_the_place_of_one_that_listens) {
  const auto foreign = foreign_socket(path_);
  const auto socket = LocalSocket::listen(path_);
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().message, path_ + ": another process listens there");
  EXPECT_TRUE(can_connect(path_));
}

TEST_F(LocalSocketTest, two_agents_do_not_take_it_from_each_other) {
  const auto first = LocalSocket::listen(path_);
  ASSERT_TRUE(first);
  const auto second = LocalSocket::listen(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, path_ + ": another agent serves it");
  EXPECT_TRUE(can_connect(path_));
}

TEST_F(LocalSocketTest, never_removes_what_is_no_socket) {
  std::ofstream(path_) << "precious";
  EXPECT_FALSE(LocalSocket::listen(path_));
  EXPECT_EQ(test::file_text(path_), "precious");
}

TEST_F(LocalSocketTest, leaves_what_another_has_put_at_its_path) {
  {
    auto socket = LocalSocket::listen(path_);
    ASSERT_TRUE(socket);
    std::filesystem::remove(path_);
    std::ofstream(path_) << "somebody else's";
  }
  EXPECT_EQ(test::file_text(path_), "somebody else's");
}

TEST_F(LocalSocketTest, an_absent_folder_and_a_long_path_are_errors_that_name_it) {
  const auto absent = LocalSocket::listen(directory_ / "absent/agent.sock");
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message.find("absent/agent.sock"), std::string::npos);
  EXPECT_FALSE(LocalSocket::listen(directory_ / std::string(200, 'x')));
}

}  // namespace
}  // namespace railhead::host
