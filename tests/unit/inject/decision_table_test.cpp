// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "inject/decide.h"
#include "unit/topology/virtual_machines.h"

namespace railhead::inject {
namespace {

TEST(DecisionTable, pools_have_the_numa_nodes_of_sysfs_whatever_the_source_says) {
  const node::Node node = test::machine_of(test::known("Azure ND A100 v4"));  // node 0 throughout
  const DecisionTable table(node, {}, {});
  ASSERT_EQ(table.topology().source, topology::TopologySource::machine_table);
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
  EXPECT_EQ(DecisionTable(b.build(), {}, {}).topology().confidence, topology::Confidence::low);
}

TEST(DecisionTable, texts_of_files_are_not_kept) {
  auto node = test::machine_of(test::known("Azure ND A100 v4"));
  node.cdi = {{"/etc/cdi/a.json", R"({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices":
      [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}]}}]})"}};
  node.nccl_file = node::TextFile{"/var/run/nvidia-topologyd/virtualTopology.xml", "<system/>"};
  const DecisionTable table(node, {}, {});
  EXPECT_NE(table.cdi().device_paths("nvidia.com/gpu=0"), nullptr);
  EXPECT_TRUE(table.node().cdi.empty());
  EXPECT_EQ(table.node().nccl_file, std::nullopt);
}

TEST(DecisionTable, the_reason_for_one_function_is_that_of_the_whole_list) {
  test::NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).ethernet(200).netdev("ens1").virtual_functions(4);
  InjectionPolicy policy;
  for (const auto* name : {"a.io/first", "a.io/second"}) {
    pools::PoolSpec spec = pools::default_pool();
    spec.name = name;
    spec.mode = pools::PoolMode::exclusive;
    spec.kinds = {pools::FunctionKind::virtual_};
    spec.include.front().conditions.clear();
    policy.pools.push_back(spec);
  }
  const DecisionTable table(b.build(), {}, std::move(policy));
  for (std::size_t pool = 0; pool < 2; ++pool) {
    const auto all = table.why_not_in(pool);
    ASSERT_EQ(all.size(), 5U);
    EXPECT_EQ(all[0], "functions: it is a pf");
    EXPECT_EQ(all[1], pool == 0 ? "" : "is in the exclusive pool a.io/first");
    for (std::size_t f = 0; f < all.size(); ++f) EXPECT_EQ(table.why_not_in(pool, f), all[f]);
  }
}

}  // namespace
}  // namespace railhead::inject
