// SPDX-License-Identifier: Apache-2.0
#include "bench/listener.h"

#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "bench/outcome.h"

namespace railhead::bench {
namespace {

using testing::HasSubstr;

constexpr const char* kListenerKey = "0123456789abcdef";
constexpr Limit kLong{60'000};

HostPort at(std::string_view text) {
  return HostPort::parse(text).value();
}

class ListenerTest : public testing::Test {
 protected:
  host::UniqueFd stranger() { return connect_to(at(listener_.address()), kLong).value(); }

  host::SystemClock clock_;
  host::UniqueFd interrupt_ = host::UniqueFd(::eventfd(0, EFD_NONBLOCK));
  Listener listener_ =
      Listener::bind(at("127.0.0.1:0"), kListenerKey, clock_, interrupt_.get()).value();
  std::vector<std::string> dropped_;
};

TEST(HostPortText, is_a_host_and_a_number_of_a_port) {
  EXPECT_EQ(at("node-3:7174").host, "node-3");
  EXPECT_EQ(at("[fd00::1]:7174").host, "fd00::1");
  EXPECT_EQ(at("[fd00::1]:7174").port, "7174");
  for (const auto* text : {"", "host", ":1", "fd00::1:7174", "host:65536", "host:-1", "host:x"}) {
    EXPECT_FALSE(HostPort::parse(text)) << text;
  }
}

TEST_F(ListenerTest, a_port_in_use_is_named) {
  const auto second = Listener::bind(at(listener_.address()), kListenerKey, clock_, -1);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(listener_.address()));
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
}

TEST_F(ListenerTest, a_server_that_is_not_there_is_a_peer_lost) {
  const auto address = listener_.address();
  listener_ = Listener::bind(at("127.0.0.1:0"), kListenerKey, clock_, -1).value();
  const auto none = connect_to(at(address), kLong);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr(address));
  EXPECT_EQ(channel_outcome(none.error()).state, State::peer_lost);
}

TEST_F(ListenerTest, strangers_that_close_or_talk_http_do_not_keep_a_client_out) {
  auto silent = stranger();
  stranger().reset();
  auto web = stranger();
  ASSERT_TRUE(write_all(web.get(), "GET / HTTP/1.1\r\n\r\n", kLong));
  State client = State::usage;
  std::thread other([&] {
    auto channel = Channel::open(stranger(), Role::client, kListenerKey, clock_, -1);
    client = channel ? State::ok : channel_outcome(channel.error()).state;
  });
  const auto channel = listener_.accept(kLong, dropped_);
  other.join();
  EXPECT_TRUE(channel) << channel.error().message;
  EXPECT_EQ(client, State::ok);
  EXPECT_EQ(dropped_.size(), 2U);
}

TEST_F(ListenerTest, a_process_without_a_free_descriptor_says_so_and_gives_up) {
  // What the sanitizers look up once, they look up with a pipe.
  ASSERT_FALSE(listener_.accept(Limit(0), dropped_));
  const auto client = stranger();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto first_free = static_cast<rlim_t>(host::UniqueFd(::dup(client.get())).get());
  const rlimit none{first_free, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto channel = listener_.accept(Limit(2000), dropped_);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().message, "a client cannot be taken: Too many open files");
}

TEST_F(ListenerTest, a_wrong_key_is_told_to_both_and_the_server_waits_on) {
  State client = State::ok;
  std::thread other([&] {
    auto channel = Channel::open(stranger(), Role::client, "another key entirely", clock_, -1);
    client = channel ? State::ok : channel_outcome(channel.error()).state;
    const std::uint64_t one = 1;
    (void)!::write(interrupt_.get(), &one, sizeof one);
  });
  const auto channel = listener_.accept(kLong, dropped_);
  other.join();
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().message, "interrupted");
  EXPECT_EQ(client, State::wrong_key);
  ASSERT_EQ(dropped_.size(), 1U);
}

TEST_F(ListenerTest, ends_when_nobody_comes) {
  const auto channel = listener_.accept(Limit(0), dropped_);
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().code, ErrorCode::timeout);
}

TEST_F(ListenerTest, a_client_that_dies_within_a_frame_is_a_peer_lost) {
  State server = State::ok;
  std::thread other([&] {
    auto channel = listener_.accept(kLong, dropped_);
    if (!channel) return;
    const auto message = channel->receive(kLong);
    if (!message) server = channel_outcome(message.error()).state;
  });
  {
    auto channel = Channel::open(stranger(), Role::client, kListenerKey, clock_, -1);
    ASSERT_TRUE(channel);
    ASSERT_TRUE(write_all(channel->descriptor(), std::string_view("\0\0", 2), kLong));
  }
  other.join();
  EXPECT_EQ(server, State::peer_lost);
}

}  // namespace
}  // namespace railhead::bench
