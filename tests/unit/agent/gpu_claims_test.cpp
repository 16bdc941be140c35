// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu_claims.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "unit/inject/container_builder.h"
#include "unit/kubelet/pod_resources_fixture.h"
#include "unit/manual_clock.h"

namespace railhead::agent {
namespace {

TEST(GpuClaims, without_a_socket_there_is_no_kubelet) {
  test::ManualClock clock;
  const auto mailbox = loop::Mailbox::open();
  ASSERT_TRUE(mailbox);
  kubelet::PodResources resources("/nowhere/kubelet.sock", **mailbox);
  GpuClaims claims(resources, clock);
  const auto table =
      std::make_shared<const inject::DecisionTable>(test::table_of(test::seed_node()));
  test::ContainerBuilder container;
  std::optional<inject::KubeletAnswer> answer;
  claims.ask(container.request(), table, std::chrono::seconds(1),
             [&](inject::KubeletAnswer given) { answer = std::move(given); });
  while (!answer) (*mailbox)->run();
  EXPECT_EQ(answer->state, inject::KubeletAnswer::State::no_kubelet);
  const auto known = claims.known(container.request(), *table);
  ASSERT_TRUE(known) << "for a moment nobody has to be asked";
  EXPECT_EQ(known->state, inject::KubeletAnswer::State::no_kubelet);
  std::optional<ErrorCode> error;
  claims.ask_all(std::chrono::seconds(1), [&](const auto& pods) { error = pods.error().code; });
  while (!error) (*mailbox)->run();
  EXPECT_EQ(error, ErrorCode::unavailable);
}

/// Beside a kubelet that answers by gRPC.
class GpuClaimsAsking : public kubelet::test::PodResourcesTest {
 protected:
  GpuClaimsAsking() {
    loop_.run([this] { claims_.emplace(*pods_, clock_); });
  }

  ~GpuClaimsAsking() override {
    kubelet_.hang(false);
    loop_.run([this] { pods_.reset(); });
  }

  static container::Request named(std::string_view pod, std::string_view uid,
                                  std::string_view container = "main") {
    container::Request request;
    request.pod_namespace = "default";
    request.pod_name = pod;
    request.pod_uid = uid;
    request.name = container;
    return request;
  }

  inject::KubeletAnswer ask(std::string_view pod, std::string_view uid,
                            std::string_view container = "main") {
    std::atomic<bool> came{false};
    inject::KubeletAnswer answer;
    loop_.run([&] {
      const auto request = named(pod, uid, container);
      const auto take = [&](inject::KubeletAnswer given) {
        answer = std::move(given);
        came = true;
        came.notify_one();
      };
      const auto known = claims_->known(request, *table_);
      known ? take(*known) : claims_->ask(request, table_, kLong, take);
    });
    came.wait(false);
    return answer;
  }

  void expect(std::string_view pod, std::string_view uid) {
    loop_.run([&] { claims_->expect(named(pod, uid), kLong); });
  }

  /// Lets what is asked ahead come. The answer to a later question comes later.
  void until_asked(int gets) {
    while (kubelet_.gets < gets) std::this_thread::yield();
    (void)pod("later");
    kubelet_.gets = 0;
  }

  static constexpr auto kLong = kubelet::test::kLong;
  test::ManualClock clock_;
  std::shared_ptr<const inject::DecisionTable> table_ =
      std::make_shared<const inject::DecisionTable>(test::table_of(test::seed_node()));
  std::optional<GpuClaims> claims_;
};

TEST_F(GpuClaimsAsking, nobody_is_asked_ahead_before_a_container_had_to_ask) {
  start();
  expect("one", "uid-1");
  EXPECT_FALSE(ask("one", "uid-1").is_kept);
  EXPECT_EQ(kubelet_.gets, 1);
}

TEST_F(GpuClaimsAsking, who_was_asked_for_ahead_finds_the_answer) {
  start();
  (void)ask("first", "uid-0");
  kubelet_.gets = 0;
  expect("one", "uid-1");
  until_asked(1);
  const auto answer = ask("one", "uid-1");
  EXPECT_EQ(answer.state, inject::KubeletAnswer::State::answered);
  EXPECT_EQ(answer.devices.size(), 1U);
  EXPECT_TRUE(answer.is_kept);
  EXPECT_EQ(kubelet_.gets, 0);
  EXPECT_FALSE(ask("one", "uid-2").is_kept) << "another pod of the same name";
  EXPECT_FALSE(ask("one", "uid-1").is_kept) << "the container is created again";
  EXPECT_EQ(kubelet_.gets, 2);
}

TEST_F(GpuClaimsAsking, who_comes_before_the_answer_waits_for_it) {
  start();
  (void)ask("first", "uid-0");
  kubelet_.gets = 0;
  kubelet_.hang(true);
  expect("one", "uid-1");
  std::thread later([this] {
    while (kubelet_.gets == 0) std::this_thread::yield();
    kubelet_.hang(false);
  });
  EXPECT_TRUE(ask("one", "uid-1").is_kept);
  later.join();
  EXPECT_EQ(kubelet_.gets, 1) << "it is asked once";
}

TEST_F(GpuClaimsAsking, who_waits_for_a_question_that_fails_asks_itself) {
  start();
  (void)ask("first", "uid-0");
  kubelet_.refusal = grpc::StatusCode::INTERNAL;
  kubelet_.refusals = 1;
  kubelet_.gets = 0;
  expect("one", "uid-1");
  const auto answer = ask("one", "uid-1");
  EXPECT_EQ(answer.state, inject::KubeletAnswer::State::answered);
  EXPECT_FALSE(answer.is_kept);
  EXPECT_EQ(kubelet_.gets, 2);
}

TEST_F(GpuClaimsAsking, a_sandbox_that_is_made_again_is_asked_for_again) {
  start();
  (void)ask("one", "uid-1", "sidecar");
  kubelet_.gets = 0;
  kubelet_.refusal = grpc::StatusCode::INTERNAL;
  kubelet_.refusals = 1;
  expect("one", "uid-1");
  EXPECT_FALSE(ask("one", "uid-1").is_kept) << "the answer of before is gone";
}

TEST_F(GpuClaimsAsking, few_pods_are_asked_for_ahead_at_once) {
  start();
  (void)ask("first", "uid-0");
  kubelet_.gets = 0;
  kubelet_.hang(true);
  for (std::size_t i = 0; i < kMostAhead + 3; ++i) expect("one", "uid-" + std::to_string(i + 1));
  const int most = kMostAhead;
  while (kubelet_.gets < most) std::this_thread::yield();
  kubelet_.hang(false);
  (void)pod("later");
  EXPECT_EQ(kubelet_.gets, most + 1);
}

}  // namespace
}  // namespace railhead::agent
