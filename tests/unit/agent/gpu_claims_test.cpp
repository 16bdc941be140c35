// SPDX-License-Identifier: Apache-2.0
#include "agent/gpu_claims.h"

#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"
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
  std::optional<ErrorCode> error;
  claims.ask_all(std::chrono::seconds(1), [&](const auto& pods) { error = pods.error().code; });
  while (!error) (*mailbox)->run();
  EXPECT_EQ(error, ErrorCode::unavailable);
}

}  // namespace
}  // namespace railhead::agent
