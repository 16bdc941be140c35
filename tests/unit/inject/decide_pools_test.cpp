// SPDX-License-Identifier: Apache-2.0
// What pools do to a decision: a NIC in an exclusive one is there for its allocation only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inject/decide.h"
#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::allowing;
using test::ContainerBuilder;
using test::paths;
using test::seed_node;
using test::table_of;
using test::text_of;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kUverbs0 = "/dev/infiniband/uverbs0";

/// An exclusive pool with this NIC alone.
InjectionPolicy with_exclusive(const std::string& nic, InjectionPolicy policy = {}) {
  pools::PoolSpec spec = pools::default_pool();
  spec.name = "a.io/a";
  spec.mode = pools::PoolMode::exclusive;
  spec.include = {
      {{{pools::Fact::rdma_name, "names", {nic}, pools::Match::exact, {}}}, true, false}};
  policy.pools = {spec, pools::default_pool()};
  return policy;
}

TEST(ExclusivePool, a_nic_in_it_is_not_dealt_and_another_stands_in) {
  const auto table = table_of(seed_node(), with_exclusive("mlx5_0"));
  ContainerBuilder container;
  container.nvidia(0);
  const auto decision = test::decide(container, table);
  EXPECT_THAT(paths(decision.adjustment), Not(Contains(kUverbs0)));
  EXPECT_THAT(text_of(decision.remarks, warn::kNicNotUsable),
              HasSubstr("is in the exclusive pool a.io/a"));
  EXPECT_NE(text_of(decision.remarks, warn::kStandIn), "");
}

TEST(ExclusivePool, no_annotation_reaches_a_nic_in_it) {
  const auto table = table_of(seed_node(), with_exclusive("mlx5_0", allowing()));
  ContainerBuilder by_name;
  by_name.pod_annotation("rdma.railhead.io/container.main", "preferred")
      .pod_annotation("nics.railhead.io/container.main", "mlx5_0");
  EXPECT_TRUE(test::decide(by_name, table).adjustment.empty());
  ContainerBuilder by_path;
  by_path.pod_annotation("devices.noderesource.dev/container.main",
                         std::string("- path: ") + kUverbs0 + "\n");
  const auto decision = test::decide(by_path, table);
  EXPECT_TRUE(decision.adjustment.empty());
  EXPECT_THAT(text_of(decision.remarks, warn::kAnnotationRefused),
              HasSubstr("is in the exclusive pool a.io/a"));
}

TEST(SharedPool, changes_no_deal) {
  InjectionPolicy policy;
  policy.pools = {pools::default_pool()};
  ContainerBuilder container;
  container.nvidia(0);
  EXPECT_EQ(paths(test::decide(container, table_of(seed_node(), policy)).adjustment),
            paths(test::decide(container, table_of(seed_node())).adjustment));
}

TEST(PoolsOfATable, know_roles_and_what_cannot_carry_traffic) {
  node::Node node = seed_node();
  test::set_down(node, 1);
  const auto table = table_of(node, with_exclusive("mlx5_0"));
  const auto& shared = table.pools().pools.at(1);
  ASSERT_EQ(shared.members.size(), 3U);
  EXPECT_EQ(shared.members[0].state, pools::MemberState::not_ready);
  EXPECT_EQ(shared.members[0].reason, "port 1 is DOWN");
  EXPECT_EQ(shared.members[1].state, pools::MemberState::ready);
  EXPECT_EQ(table.why_not_in(1).at(0), "is in the exclusive pool a.io/a");
}

}  // namespace
}  // namespace railhead::inject
