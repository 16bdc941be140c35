// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod_resources.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "unit/kubelet/pod_resources_fixture.h"

namespace railhead::kubelet {
namespace {

using std::chrono::milliseconds;
using test::bound_socket;
using test::kLong;
using test::PodResourcesTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::size_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_F(PodResourcesTest, a_pods_devices_are_known_by_container_and_resource) {
  start();
  const auto mine = pod("mine");
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(mine->pod_namespace, "default");
  EXPECT_EQ(mine->pod, "mine");
  EXPECT_THAT(mine->containers,
              ElementsAre(container::Holdings{"main", {{"nvidia.com/gpu", {"GPU-1"}}}}));
  EXPECT_EQ(kubelet_.authority(), "localhost") << "the one that every kubelet takes";
}

TEST_F(PodResourcesTest, entries_of_one_resource_are_one_holding) {
  start();
  const auto shares = pod("shares");
  ASSERT_TRUE(shares) << shares.error().message;
  EXPECT_THAT(shares->containers,
              ElementsAre(container::Holdings{"main",
                                              {{"nvidia.com/gpu-share", {"share-a", "share-b"}},
                                               {"rdma.io/hca", {"rdma-0"}}}}));
}

TEST_F(PodResourcesTest, all_pods_are_known_by_one_call) {
  start();
  const auto pods = all();
  ASSERT_TRUE(pods) << pods.error().message;
  ASSERT_THAT(*pods, SizeIs(2));
  EXPECT_EQ(pods->front().pod, "other");
}

TEST_F(PodResourcesTest, what_the_node_offers_may_be_asked_from_any_thread) {
  start();
  std::atomic<bool> came{false};
  std::vector<container::Holding> offered;
  pods_->allocatable(kLong, [&](Result<std::vector<container::Holding>> answer) {
    if (answer) offered = std::move(answer).value();
    came = true;
    came.notify_one();
  });
  came.wait(false);
  EXPECT_THAT(offered, ElementsAre(container::Holding{"rdma.io/hca", {"rdma-0"}}));
}

// That none is started and ended is counted by `scripts/bench --counts`, with strace.
TEST_F(PodResourcesTest, a_question_leaves_no_thread_behind) {
  start();
  // The first ones start what stays: ours, and on the side of the test the server's.
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(pod("mine"));
  const auto before = threads();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pod("mine"));
  EXPECT_LT(threads(), before + 10) << "gRPC may add one to its pool; once it was eight a question";
}

/// Inodes of the connections that a server has at this path, from /proc/net/unix (proc(5)).
std::set<std::string> connections_at(const std::string& path) {
  constexpr const char* kConnected = "03";
  std::set<std::string> found;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    std::istringstream fields(line);
    std::string number, users, protocol, flags, type, state, inode, at;
    fields >> number >> users >> protocol >> flags >> type >> state >> inode >> at;
    if (at == path && state == kConnected) found.insert(inode);
  }
  return found;
}

TEST_F(PodResourcesTest, all_questions_take_one_connection) {
  start();
  ASSERT_TRUE(pod("mine"));
  const auto first = connections_at(socket_);
  EXPECT_THAT(first, SizeIs(1));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(pod("mine"));
    EXPECT_EQ(connections_at(socket_), first);
  }
}

TEST_F(PodResourcesTest, many_questions_are_under_way_at_once) {
  start();
  kubelet_.hang(true);
  std::mutex mutex;
  std::condition_variable came;
  int answers = 0;
  loop_.run([&] {
    for (int i = 0; i < 3; ++i) {
      pods_->pod("default", "mine", kLong, [&](const Result<container::PodHoldings>& answer) {
        const std::lock_guard lock(mutex);
        if (answer) ++answers;
        came.notify_one();
      });
    }
  });
  while (kubelet_.gets < 3) std::this_thread::yield();
  kubelet_.hang(false);
  std::unique_lock lock(mutex);
  came.wait(lock, [&] { return answers == 3; });
}

TEST_F(PodResourcesTest, a_kubelet_without_get_is_asked_for_the_list) {
  kubelet_.without_get = grpc::StatusCode::UNIMPLEMENTED;
  start();
  const auto mine = pod("mine");
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(mine->pod, "mine");
  EXPECT_EQ(mine->containers.size(), 1U);
  const auto unknown = pod("nobody");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->pod, "nobody");
  EXPECT_THAT(unknown->containers, IsEmpty());
}

TEST_F(PodResourcesTest, that_a_kubelet_lacks_get_is_remembered) {
  kubelet_.without_get = grpc::StatusCode::UNKNOWN;
  start();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pod("mine"));
  EXPECT_EQ(kubelet_.gets, 1);
  EXPECT_EQ(kubelet_.lists, 3);
}

TEST_F(PodResourcesTest, the_next_kubelet_is_asked_by_get_again) {
  kubelet_.without_get = grpc::StatusCode::UNIMPLEMENTED;
  start();
  ASSERT_TRUE(pod("mine"));
  stop();
  kubelet_.without_get = grpc::StatusCode::OK;
  start();
  ASSERT_TRUE(pod("mine"));
  EXPECT_EQ(kubelet_.gets, 2);
  EXPECT_EQ(kubelet_.lists, 1);
}

TEST_F(PodResourcesTest, a_pod_that_get_does_not_know_is_no_kubelet_without_get) {
  start();
  const auto unknown = pod("unknown");
  ASSERT_TRUE(unknown) << unknown.error().message;
  EXPECT_THAT(unknown->containers, IsEmpty());
  EXPECT_EQ(kubelet_.lists, 1);
  ASSERT_TRUE(pod("mine"));
  EXPECT_EQ(kubelet_.gets, 2);
  EXPECT_EQ(kubelet_.lists, 1) << "one pod that is not known says nothing of the kubelet";
}

TEST_F(PodResourcesTest, the_list_in_place_of_get_has_no_time_of_its_own) {
  kubelet_.without_get = grpc::StatusCode::UNIMPLEMENTED;
  kubelet_.hang(true);
  start();
  const auto mine = pod("mine", milliseconds(50));
  ASSERT_FALSE(mine);
  EXPECT_EQ(mine.error().code, ErrorCode::timeout);
}

TEST_F(PodResourcesTest, above_the_kubelets_limit_it_is_asked_again) {
  kubelet_.refusals = 3;
  start();
  const auto mine = pod("mine");
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(kubelet_.gets, 4);
}

TEST_F(PodResourcesTest, a_limit_that_lasts_is_told_within_the_time) {
  kubelet_.refusals = 1'000'000;
  start();
  const auto mine = pod("mine", milliseconds(300));
  ASSERT_FALSE(mine);
  EXPECT_EQ(mine.error().code, ErrorCode::too_large);
  EXPECT_THAT(mine.error().message, HasSubstr("rejected by rate limit"));
  EXPECT_GE(kubelet_.gets, 2);
}

TEST_F(PodResourcesTest, an_answer_that_is_too_large_is_asked_for_once) {
  kubelet_.padding = 17 << 20;
  start();
  const auto pods = all();
  ASSERT_FALSE(pods);
  EXPECT_EQ(pods.error().code, ErrorCode::too_large);
  EXPECT_EQ(kubelet_.lists, 1);
}

TEST_F(PodResourcesTest, an_answer_above_grpcs_own_limit_is_taken) {
  kubelet_.padding = 5 << 20;
  start();
  const auto pods = all();
  ASSERT_TRUE(pods) << pods.error().message;
  EXPECT_THAT(*pods, SizeIs(3));
}

TEST_F(PodResourcesTest, a_kubelet_that_accepts_and_never_speaks_is_a_timeout) {
  const auto deaf = bound_socket(socket_, true);
  const auto mine = pod("mine", milliseconds(50));
  ASSERT_FALSE(mine);
  EXPECT_EQ(mine.error().code, ErrorCode::timeout);
}

/// Its socket's buffer is full after some hundred requests.
TEST_F(PodResourcesTest, a_kubelet_that_reads_nothing_keeps_no_question_for_ever) {
  const auto listening = bound_socket(socket_, true);
  std::vector<host::UniqueFd> accepted;
  std::thread greeter([&] {
    for (;;) {
      host::UniqueFd one(::accept(listening.get(), nullptr, nullptr));
      if (!one) return;
      const char settings[9] = {0, 0, 0, 4, 0, 0, 0, 0, 0};  // RFC 9113, 6.5
      (void)::send(one.get(), settings, sizeof settings, MSG_NOSIGNAL);
      accepted.push_back(std::move(one));
    }
  });
  std::atomic<int> late{0};
  for (int round = 0; round < 20; ++round) {
    late = 0;
    loop_.run([&] {
      for (int i = 0; i < 100; ++i) {
        pods_->pod("default", "mine", milliseconds(20),
                   [&](const Result<container::PodHoldings>& answer) {
                     EXPECT_EQ(answer.error().code, ErrorCode::timeout) << answer.error().message;
                     ++late;
                     late.notify_one();
                   });
      }
    });
    for (int seen = late; seen < 100; seen = late) late.wait(seen);
  }
  loop_.run([this] { pods_.reset(); });
  ::shutdown(listening.get(), SHUT_RDWR);
  greeter.join();
}

TEST_F(PodResourcesTest, a_kubelet_that_never_answers_is_a_timeout) {
  kubelet_.hang(true);
  start();
  const auto mine = pod("mine", milliseconds(50));
  ASSERT_FALSE(mine);
  EXPECT_EQ(mine.error().code, ErrorCode::timeout);
}

TEST_F(PodResourcesTest, a_kubelet_that_restarted_is_asked_without_a_failed_question) {
  start();
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(pod("mine"));
    stop();
    start();
    const auto mine = pod("mine");
    ASSERT_TRUE(mine) << mine.error().message;
  }
}

TEST_F(PodResourcesTest, a_question_that_comes_during_a_restart_waits_for_its_end) {
  start();
  ASSERT_TRUE(pod("mine"));
  stop();
  std::atomic<int> answers{0};
  std::atomic<bool> is_good{false};
  loop_.run([&] {
    pods_->pod("default", "mine", kLong, [&](const Result<container::PodHoldings>& answer) {
      is_good = answer.has_value();
      ++answers;
      answers.notify_one();
    });
  });
  start();
  answers.wait(0);
  EXPECT_TRUE(is_good);
}

TEST_F(PodResourcesTest, a_kubelet_that_says_it_is_unavailable_is_asked_again) {
  start();
  ASSERT_TRUE(pod("mine"));
  kubelet_.refusal = grpc::StatusCode::UNAVAILABLE;
  kubelet_.refusals = 2;
  const auto mine = pod("mine");
  ASSERT_TRUE(mine) << mine.error().message;
}

TEST_F(PodResourcesTest, its_end_does_not_wait_for_an_answer) {
  kubelet_.hang(true);
  start();
  loop_.run([this] {
    pods_->pod("default", "mine", std::chrono::hours(1),
               [](const Result<container::PodHoldings>&) { FAIL() << "called after the end"; });
  });
  while (kubelet_.gets == 0) std::this_thread::yield();
  loop_.run([this] { pods_.reset(); });
}

TEST_F(PodResourcesTest, its_end_does_not_wait_for_a_kubelet_that_was_stopped) {
  const auto deaf = bound_socket(socket_, true);
  loop_.run([this] {
    const auto never = [](const Result<container::PodHoldings>&) {
      FAIL() << "called after the end";
    };
    for (int i = 0; i < 100; ++i) pods_->pod("default", "mine", std::chrono::hours(1), never);
    pods_.reset();
  });
}

TEST_F(PodResourcesTest, what_was_answered_and_not_handed_over_is_not_after_the_end) {
  start();
  ASSERT_TRUE(pod("mine"));
  const int before = kubelet_.gets;
  loop_.run([&] {
    pods_->pod("default", "mine", kLong,
               [](const Result<container::PodHoldings>&) { FAIL() << "called after the end"; });
    while (kubelet_.gets == before) std::this_thread::yield();
    pods_.reset();
  });
}

TEST_F(PodResourcesTest, who_may_wait_is_told_what_all_hold_by_plugins_and_claims) {
  kubelet_.has_claims = true;
  start();
  const auto pods = ask_for_all(socket_, kLong);
  ASSERT_TRUE(pods) << pods.error().message;
  ASSERT_EQ(pods->size(), 3U);
  const auto& claimed = pods->back();
  EXPECT_EQ(claimed.pod, "claimed");
  ASSERT_EQ(claimed.containers.size(), 1U);
  EXPECT_EQ(claimed.containers[0].devices, (std::vector<container::Holding>{
                                               {"nvidia.com/gpu", {"GPU-1"}},
                                               {"dra.net", {"node-1/nic-0"}},
                                               {"gpu.nvidia.com", {"node-1/gpu-0", "node-1/gpu-1"}},
                                           }));
}

TEST_F(PodResourcesTest, who_may_wait_is_told_at_once_that_there_is_no_kubelet) {
  const auto pods = ask_for_all(socket_, kLong);
  ASSERT_FALSE(pods);
  EXPECT_EQ(pods.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace railhead::kubelet
