// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inject/decide.h"
#include "unit/inject/container_builder.h"
#include "unit/node/hosts.h"

namespace railhead::inject {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(DecideHolding, the_gpus_need_not_be_in_the_request) {
  node::Node node = test::machine("amd-mi300x");
  for (auto& gpu : node.gpus) gpu.drm_render = gpu.drm_card = std::nullopt;
  const auto table = test::table_of(node);
  test::ContainerBuilder container;
  EXPECT_THAT(test::decide(container, table).nics, IsEmpty());
  const auto decision = decide_holding({1, 0}, container.request(), table, {});
  EXPECT_THAT(decision.gpus, ElementsAre(0, 1));
  EXPECT_THAT(decision.nics, SizeIs(2));
  EXPECT_EQ(decision.outcome, Outcome::adjusted);
}

TEST(DecideHolding, is_what_the_request_with_their_nodes_would_get) {
  const auto table = test::table_of(test::machine("dgx-h100"));
  test::ContainerBuilder shown;
  shown.nvidia(3);
  test::ContainerBuilder plain;
  const auto one = test::decide(shown, table);
  const auto other = decide_holding(one.gpus, plain.request(), table, {});
  EXPECT_EQ(other.nics, one.nics);
  EXPECT_EQ(other.adjustment.devices, one.adjustment.devices);
  EXPECT_EQ(other.adjustment.env, one.adjustment.env);
}

}  // namespace
}  // namespace railhead::inject
