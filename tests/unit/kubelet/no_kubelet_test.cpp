// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "unit/few_descriptors.h"
#include "unit/kubelet/pod_resources_fixture.h"
#include "unit/this_program.h"

namespace railhead::kubelet {
namespace {

using railhead::test::FewDescriptors;
using railhead::test::kIsSanitized;
using std::chrono::milliseconds;
using test::bound_socket;
using test::connect_to;
using test::kLong;
using ::testing::HasSubstr;

class NoKubelet : public test::PodResourcesTest {};

TEST_F(NoKubelet, an_absent_kubelet_fails_at_once_and_is_asked_when_it_comes) {
  const auto nobody = pod("mine");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::unavailable);
  EXPECT_THAT(nobody.error().message, HasSubstr(socket_));
  start();
  until_answered();
}

TEST_F(NoKubelet, a_second_question_to_nobody_is_answered_within_the_call) {
  // A look is valid for a moment only: on a machine that stood still meanwhile it is repeated.
  for (bool was_called = false; !was_called;) {
    ASSERT_FALSE(pod("mine"));
    loop_.run([&] {
      const auto here = std::this_thread::get_id();
      auto called = std::make_shared<bool>(false);
      pods_->pod("default", "mine", kLong,
                 [called, here](const Result<container::PodHoldings>& answer) {
                   EXPECT_FALSE(answer);
                   EXPECT_EQ(std::this_thread::get_id(), here);
                   *called = true;
                 });
      was_called = *called;
    });
  }
}

TEST_F(NoKubelet, a_socket_without_anybody_behind_it_is_unavailable) {
  { const auto gone = bound_socket(socket_, true); }
  const auto nobody = pod("mine");
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::unavailable);
  start();
  until_answered();
}

/// The containers are still its own: nobody may believe that there is none.
TEST_F(NoKubelet, a_kubelet_that_was_there_and_stays_away_gives_no_answer) {
  start();
  ASSERT_TRUE(pod("mine"));
  stop();
  for (int i = 0; i < 3; ++i) {
    const auto nobody = pod("mine", milliseconds(50));
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code, ErrorCode::timeout) << nobody.error().message;
  }
}

/// What somebody who listens does with a connection.
using Behaviour = void (*)(int);

void break_off(int /*connection*/) {}

void send_bytes(int connection, const std::string& bytes) {
  (void)::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void talk_nonsense(int connection) {
  send_bytes(connection, std::string(100, 'x'));
}

/// Empty SETTINGS, then GOAWAY of all streams: RFC 9113, 6.5 and 6.8.
void go_away(int connection) {
  send_bytes(connection, std::string("\0\0\0\4\0\0\0\0\0", 9));
  char bytes[1024];
  (void)::recv(connection, bytes, sizeof bytes, 0);
  send_bytes(connection, std::string("\0\0\10\7\0\0\0\0\0\0\0\0\0\0\0\0\0", 17));
}

TEST_F(NoKubelet, who_listens_and_gives_no_answer_is_not_an_absent_kubelet) {
  for (const Behaviour behave : {break_off, talk_nonsense, go_away}) {
    const auto listening = bound_socket(socket_, true);
    std::thread greeter([&] {
      for (;;) {
        const host::UniqueFd one(::accept(listening.get(), nullptr, nullptr));
        if (!one) return;
        behave(one.get());
      }
    });
    for (int i = 0; i < 3; ++i) {
      const auto mine = pod("mine", milliseconds(500));
      ASSERT_FALSE(mine);
      EXPECT_EQ(mine.error().code, ErrorCode::timeout) << mine.error().message;
    }
    ::shutdown(listening.get(), SHUT_RDWR);
    greeter.join();
    std::filesystem::remove(socket_);
  }
}

TEST_F(NoKubelet, who_breaks_off_is_asked_for_all_pods_until_he_answers) {
  auto listening = bound_socket(socket_, true);
  std::thread successor([&] {
    for (int i = 0; i < 3; ++i) {
      const host::UniqueFd one(::accept(listening.get(), nullptr, nullptr));
    }
    listening.reset();
    start();
  });
  const auto pods = all();
  successor.join();
  EXPECT_TRUE(pods) << pods.error().message;
}

TEST_F(NoKubelet, what_is_no_socket_yet_is_asked_for_all_pods_until_it_is) {
  ASSERT_EQ(::mkfifo(socket_.c_str(), 0600), 0);
  std::thread successor([&] {
    std::this_thread::sleep_for(milliseconds(300));  // after the first look, or this shows nothing
    const auto other = directory_ / "other.sock";
    start_at(other);
    std::filesystem::rename(other, socket_);  // at no time there is nothing: that is no kubelet
  });
  const auto pods = all();
  successor.join();
  EXPECT_TRUE(pods) << pods.error().message;
}

TEST_F(NoKubelet, for_an_absent_kubelet_no_question_waits) {
  const auto nobody = all();
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::unavailable);
}

TEST_F(NoKubelet, who_asks_for_all_pods_gives_up_when_his_time_is_over) {
  ASSERT_EQ(::mkdir(socket_.c_str(), 0700), 0);
  for (int i = 0; i < 2; ++i) {
    const auto nobody = all(milliseconds(250));
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code, ErrorCode::timeout);
  }
}

TEST_F(NoKubelet, who_has_no_room_for_a_connection_is_not_an_absent_kubelet) {
  const auto busy = bound_socket(socket_, false);
  ASSERT_EQ(::listen(busy.get(), 0), 0);
  std::vector<host::UniqueFd> waiting;
  for (int i = 0; i < 2; ++i) waiting.push_back(connect_to(socket_));
  const auto mine = pod("mine", milliseconds(100));
  ASSERT_FALSE(mine);
  EXPECT_EQ(mine.error().code, ErrorCode::timeout) << mine.error().message;
}

TEST_F(NoKubelet, what_is_no_stream_socket_is_not_an_absent_kubelet) {
  host::UniqueFd datagrams;
  const std::vector<std::function<void()>> makes{
      [this] { ASSERT_EQ(::mkfifo(socket_.c_str(), 0600), 0); },
      [this] { ASSERT_EQ(::mkdir(socket_.c_str(), 0700), 0); },
      [this] { ASSERT_EQ(::mknod(socket_.c_str(), S_IFREG | 0600, 0), 0); },
      [this] { std::filesystem::create_symlink(socket_, socket_); },
      [&] { datagrams = bound_socket(socket_, false, SOCK_DGRAM); }};
  for (const auto& make : makes) {
    make();
    const auto mine = pod("mine", milliseconds(100));
    ASSERT_FALSE(mine);
    EXPECT_EQ(mine.error().code, ErrorCode::timeout) << mine.error().message;
    std::filesystem::remove(socket_);
  }
}

constexpr const char* kWhyNot = "a sanitizer needs descriptors of its own";

TEST_F(NoKubelet, without_a_free_descriptor_a_kubelet_is_not_taken_for_absent) {
  if (kIsSanitized) GTEST_SKIP() << kWhyNot;
  const auto listening = bound_socket(socket_, true);
  for (int spare = 0; spare < 12; ++spare) {
    const FewDescriptors shortage(spare);
    loop_.run([this] { pods_.emplace(socket_, loop_.box()); });
    const auto mine = pod("mine", milliseconds(20));
    ASSERT_FALSE(mine);
    EXPECT_EQ(mine.error().code, ErrorCode::timeout) << mine.error().message;
  }
}

/// gRPC ends a program that has no descriptor for its event loops.
class ShortOfDescriptors : public NoKubelet {
 protected:
  ShortOfDescriptors() {
    testing::FLAGS_gtest_death_test_style = "threadsafe";  // a program that has not started gRPC
  }

  /// Ends the program, with 0 where the question had no answer.
  [[noreturn]] void ask(int spare) {
    const FewDescriptors shortage(spare);
    const auto mine = pod("mine", milliseconds(20));
    ::_exit(!mine && mine.error().code == ErrorCode::timeout ? 0 : 1);
  }
};

TEST_F(ShortOfDescriptors, grpc_is_not_started) {
  if (kIsSanitized) GTEST_SKIP() << kWhyNot;
  const auto listening = bound_socket(socket_, true);
  for (int spare = 0; spare < 12; ++spare) {
    EXPECT_EXIT(ask(spare), testing::ExitedWithCode(0), "") << spare;
  }
}

TEST_F(ShortOfDescriptors, the_next_kubelet_is_asked_without_an_end_of_the_program) {
  if (kIsSanitized) GTEST_SKIP() << kWhyNot;
  const auto listening = bound_socket(socket_, true);
  for (int spare = 0; spare < 6; ++spare) {
    const auto ask_the_next = [&] {
      (void)pod("mine", milliseconds(20));
      std::filesystem::remove(socket_);
      const auto next = bound_socket(socket_, true);
      ask(spare);
    };
    EXPECT_EXIT(ask_the_next(), testing::ExitedWithCode(0), "") << spare;
  }
}

}  // namespace
}  // namespace railhead::kubelet
