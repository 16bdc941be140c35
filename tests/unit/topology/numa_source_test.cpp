// SPDX-License-Identifier: Apache-2.0
#include "topology/numa_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node_builder.h"

namespace railhead::topology {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// `gpus` and `nics` functions on host bridges of their own.
void add(test::NodeBuilder& b, std::optional<int> numa, unsigned gpus, unsigned nics) {
  static constexpr std::uint32_t kStep = 0x100;
  const auto first = static_cast<std::uint32_t>(b.raw().pci.size()) + (numa ? 0 : kStep);
  for (unsigned g = 0; g < gpus; ++g) b.gpu(b.host_bridge(0, numa, first + g));
  for (unsigned n = 0; n < nics; ++n) b.nic(b.host_bridge(0, numa, first + gpus + n));
}

TEST(NumaSource, one_nic_a_node_leaves_no_choice) {
  test::NodeBuilder b;
  add(b, 0, 4, 1);
  add(b, 1, 4, 1);
  const auto source = numa_source_of(b.build());
  EXPECT_EQ(source.confidence, Confidence::medium);
  EXPECT_THAT(source.warning, IsEmpty());
}

TEST(NumaSource, several_gpus_and_nics_on_one_node_are_left_to_chance) {
  test::NodeBuilder b;
  add(b, 0, 1, 1);
  add(b, 1, 2, 2);
  const auto source = numa_source_of(b.build());
  EXPECT_EQ(source.confidence, Confidence::low);
  EXPECT_THAT(source.warning, HasSubstr("by NUMA node"));
  EXPECT_THAT(source.warning, HasSubstr("topology.file"));
}

TEST(NumaSource, unknown_nodes_are_left_to_chance) {
  test::NodeBuilder b;
  add(b, std::nullopt, 8, 8);
  const auto source = numa_source_of(b.build());
  EXPECT_EQ(source.confidence, Confidence::low);
  EXPECT_THAT(source.warning, HasSubstr("evenly by PCI address"));
  EXPECT_THAT(source.warning, HasSubstr("NCCL_TOPO_FILE"));
}

TEST(NumaSource, one_unknown_node_is_enough_to_know_too_little) {
  test::NodeBuilder b;
  add(b, 0, 2, 1);
  add(b, std::nullopt, 0, 1);
  EXPECT_EQ(numa_source_of(b.build()).confidence, Confidence::low);
}

TEST(NumaSource, the_only_nic_needs_no_node) {
  test::NodeBuilder b;
  add(b, std::nullopt, 8, 1);
  b.soft_nic("rxe0", "eth0");
  const auto source = numa_source_of(b.build());
  EXPECT_EQ(source.confidence, Confidence::medium);
  EXPECT_THAT(source.warning, IsEmpty());
}

}  // namespace
}  // namespace railhead::topology
