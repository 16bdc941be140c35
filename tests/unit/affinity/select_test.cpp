// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "affinity/affinity.h"
#include "unit/machines.h"

namespace railhead::affinity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A machine with everything that select() needs; ports may be turned off before asking.
struct SelectedMachine {
  node::Node node;

  explicit SelectedMachine(node::Node built)
      : node(std::move(built)) {}

  void down(std::size_t nic) { node.nics[nic].ports[0].state = node::PortState::down; }

  Selection ask(const std::vector<std::size_t>& gpus) const {
    const topology::Topology topology = topology::make_topology(node);
    return select(node, topology, deal(node, topology, {}), usability_of(node), gpus);
  }
};

TEST(Select, golden_pairs_of_eight_gpus_and_four_nics) {
  const SelectedMachine m(test::eight_gpus_four_nics().build());
  EXPECT_THAT(m.ask({0, 1}).nics, ElementsAre(0));
  EXPECT_THAT(m.ask({4, 5}).nics, ElementsAre(2));
  EXPECT_THAT(m.ask({0, 1, 2, 3, 4, 5, 6, 7}).nics, ElementsAre(0, 1, 2, 3));
}

TEST(Select, gpus_stay_in_the_order_asked_and_count_once) {
  const SelectedMachine m(test::dgx_h100().build());
  const auto selection = m.ask({4, 0, 4});
  ASSERT_THAT(selection.gpus, SizeIs(2));
  EXPECT_EQ(selection.gpus[0].gpu, 4U);
  EXPECT_EQ(selection.gpus[1].gpu, 0U);
  EXPECT_THAT(selection.nics, ElementsAre(0, 6));
  EXPECT_THAT(selection.warnings, IsEmpty());
  EXPECT_FALSE(selection.gpus[0].nics[0].stand_in);
  EXPECT_EQ(selection.gpus[0].nics[0].nearness.relation, topology::Relation::pxb);
}

TEST(Select, number_that_is_no_gpu_is_ignored) {
  const SelectedMachine m(test::dgx_h100().build());
  EXPECT_THAT(m.ask({99}).gpus, IsEmpty());
}

TEST(Select, nic_that_is_down_gets_a_stand_in_for_its_gpu_alone) {
  SelectedMachine m(test::dgx_h100().build());
  m.down(0);
  const auto selection = m.ask({0, 1});
  ASSERT_THAT(selection.gpus[0].nics, SizeIs(1));
  const Choice& choice = selection.gpus[0].nics[0];
  EXPECT_TRUE(choice.stand_in);
  EXPECT_EQ(choice.nic, 1U) << "nearest usable compute NIC, lowest address; storage never";
  EXPECT_EQ(
      choice.why,
      "NODE on NUMA node 0; stands in, nearest usable: mlx5_0 is not usable (port 1 is DOWN)");
  EXPECT_THAT(selection.gpus[1].nics, SizeIs(1));
  EXPECT_EQ(selection.gpus[1].nics[0].nic, 1U);
  EXPECT_FALSE(selection.gpus[1].nics[0].stand_in);
  EXPECT_THAT(selection.warnings,
              ElementsAre("GPU 0 (0000:18:00.0): mlx5_0 is not usable (port 1 is DOWN); mlx5_1 "
                          "stands in (NODE)"));
}

TEST(Select, stand_in_of_equal_nearness_is_the_one_with_fewest_gpus) {
  test::NodeBuilder b;
  b.numa(0, 0);
  const auto sw = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  for (int i = 0; i < 2; ++i) b.gpu(b.bridge(sw));
  for (int i = 0; i < 3; ++i) b.nic(b.bridge(sw));
  SelectedMachine m(b.build());
  m.down(0);
  EXPECT_THAT(m.ask({0}).nics, ElementsAre(2)) << "NIC 1 belongs to GPU 1, NIC 2 is spare";
}

TEST(Select, one_port_of_a_card_that_is_up_is_not_replaced) {
  test::NodeBuilder b;
  b.numa(0, 0);
  for (int i = 0; i < 2; ++i) {
    const auto sw = b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(32 * i), 0)));
    b.gpu(b.bridge(sw));
    b.nic(b.bridge(sw), 2);
  }
  SelectedMachine m(b.build());
  m.down(0);
  const auto selection = m.ask({0});
  EXPECT_THAT(selection.nics, ElementsAre(1));
  EXPECT_FALSE(selection.gpus[0].nics[0].stand_in);
  m.down(1);
  EXPECT_THAT(m.ask({0}).nics, ElementsAre(2, 3)) << "both ports of the stand-in";
}

TEST(Select, without_any_usable_nic_there_is_a_warning_and_nothing_else) {
  SelectedMachine m(test::eight_gpus_four_nics().build());
  for (std::size_t i = 0; i < 4; ++i) m.down(i);
  const auto selection = m.ask({0});
  EXPECT_THAT(selection.nics, IsEmpty());
  ASSERT_THAT(selection.gpus, SizeIs(1));
  EXPECT_THAT(selection.warnings,
              ElementsAre("GPU 0 (0000:11:00.0): no usable compute NIC: mlx5_0 is not usable (port "
                          "1 is DOWN)"));
}

TEST(Select, lost_card_beside_others_of_a_gpu_is_warned_of_not_replaced) {
  SelectedMachine m(test::eight_gpus_32_nics().build());
  m.down(2);
  const auto selection = m.ask({0, 1});
  EXPECT_THAT(selection.nics, ElementsAre(0, 1, 3, 4, 5, 6, 7));
  EXPECT_THAT(selection.warnings,
              ElementsAre("GPU 0 (0000:17:00.0): mlx5_2 is not usable (port 1 is DOWN)"));
}

TEST(Select, node_without_rdma_devices_says_so_once) {
  test::NodeBuilder b;
  for (int i = 0; i < 8; ++i) b.gpu(b.bridge(b.host_bridge(static_cast<std::uint8_t>(i), 0)));
  SelectedMachine m(b.build());
  EXPECT_THAT(m.ask({0, 1, 2}).warnings, ElementsAre("no RDMA device on this node"));
  EXPECT_THAT(m.ask({}).warnings, IsEmpty());
}

TEST(Select, node_without_compute_nics_leaves_the_warning_to_the_deal) {
  test::NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0))).netdev("eth0").default_route();
  SelectedMachine m(b.build());
  EXPECT_THAT(m.ask({0}).warnings, IsEmpty());
}

TEST(Select, reasons_of_pools_count_like_the_node_s_own) {
  const node::Node node = test::eight_gpus_four_nics().build();
  const topology::Topology topology = topology::make_topology(node);
  auto usable = usability_of(node);
  usable[0] = {false, "is in the exclusive pool nvidia.com/hostdev"};
  const auto selection = select(node, topology, deal(node, topology, {}), usable, {0, 2});
  EXPECT_THAT(selection.nics, ElementsAre(1));
  EXPECT_THAT(selection.warnings, ElementsAre(HasSubstr("exclusive pool nvidia.com/hostdev")));
}

}  // namespace
}  // namespace railhead::affinity
