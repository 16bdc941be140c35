// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "affinity/affinity.h"
#include "unit/machines.h"

namespace railhead::affinity {
namespace {

using testing::SizeIs;

ExplainedGpu explain_first_gpu(const node::Node& node) {
  const auto topology = topology::make_topology(node);
  const auto dealt = deal(node, topology, {});
  const auto usable = usability_of(node);
  return explain(node, topology, dealt, usable, select(node, topology, dealt, usable, {0})).at(0);
}

const ExplainedNic& entry(const ExplainedGpu& gpu, std::size_t nic) {
  return *std::ranges::find_if(gpu.nics, [&](const ExplainedNic& e) { return e.nic == nic; });
}

TEST(Explain, every_nic_has_its_reason_nearest_first) {
  const node::Node node = test::dgx_h100().build();
  const auto gpu = explain_first_gpu(node);
  ASSERT_THAT(gpu.nics, SizeIs(node.nics.size()));
  EXPECT_EQ(gpu.nics[0].nic, 0U);
  EXPECT_TRUE(gpu.nics[0].chosen && gpu.nics[0].dealt && gpu.nics[0].nearest);
  EXPECT_EQ(gpu.nics[0].reason, gpu.step);
  EXPECT_FALSE(entry(gpu, 4).candidate);
  EXPECT_EQ(entry(gpu, 4).reason, "excluded: storage, a card of 2 functions, most have 1");
  EXPECT_EQ(entry(gpu, 1).reason, "further away: NODE on NUMA node 0");
  EXPECT_EQ(entry(gpu, 6).reason, "further away: SYS");
}

TEST(Explain, equally_near_nic_is_said_to_be_dealt_to_another_gpu) {
  const auto gpu = explain_first_gpu(test::dgx_a100().build());
  const auto& other = entry(gpu, 1);
  EXPECT_TRUE(other.nearest);
  EXPECT_FALSE(other.dealt);
  EXPECT_EQ(other.reason, "as near, dealt to GPU 1 (0000:09:00.0)");
}

TEST(Explain, stand_in_and_what_it_replaces_are_both_shown) {
  node::Node node = test::dgx_h100().build();
  node.nics[0].ports[0].state = node::PortState::down;
  const auto gpu = explain_first_gpu(node);
  EXPECT_TRUE(entry(gpu, 0).dealt);
  EXPECT_FALSE(entry(gpu, 0).chosen);
  EXPECT_EQ(entry(gpu, 0).reason, "dealt, not usable: port 1 is DOWN");
  EXPECT_TRUE(entry(gpu, 1).chosen);
}

}  // namespace
}  // namespace railhead::affinity
