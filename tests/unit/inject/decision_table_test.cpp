// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "inject/decide.h"
#include "unit/topology/virtual_machines.h"

namespace railhead {
namespace {

TEST(DecisionTable, pools_have_the_numa_nodes_of_sysfs_whatever_the_source_says) {
  const Node node = test::machine_of(test::known("Azure ND A100 v4"));  // node 0 throughout
  const DecisionTable table(node, {}, {});
  ASSERT_EQ(table.topology().source, TopologySource::machine_table);
  ASSERT_NE(table.node().nics.back().numa_node, 0);
  ASSERT_FALSE(table.pools().functions.empty());
  for (const auto& function : table.pools().functions) EXPECT_EQ(function.numa_node, 0);
}

TEST(DecisionTable, deal_left_to_chance_makes_confidence_low) {
  test::NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  for (std::uint8_t i = 0; i < 2; ++i) {
    b.gpu(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x10 + 0x40 * i), std::nullopt)));
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x20 + 0x40 * i), std::nullopt)));
  }
  EXPECT_EQ(DecisionTable(b.build(), {}, {}).topology().confidence, Confidence::low);
}

}  // namespace
}  // namespace railhead
