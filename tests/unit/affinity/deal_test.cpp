// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "affinity/affinity.h"
#include "unit/affinity/dealt.h"
#include "unit/machines.h"

namespace railhead::affinity {
namespace {

using test::deal_of;
using test::NodeBuilder;
using test::Slot;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::vector<std::size_t>> nics_by_gpu(const Deal& deal) {
  std::vector<std::vector<std::size_t>> nics;
  for (const auto& gpu : deal.gpus) nics.push_back(gpu.nics);
  return nics;
}

TEST(Deal, eight_gpus_four_nics_share_in_pairs) {
  const auto result = deal_of(test::eight_gpus_four_nics().build());
  EXPECT_THAT(nics_by_gpu(result),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(1),
                          ElementsAre(2), ElementsAre(2), ElementsAre(3), ElementsAre(3)));
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_EQ(result.gpus[5].why,
            "PHB at pci0000:70; 2 of 4 NICs are nearest, to 4 GPUs: dealt as 2 of 4, shared");
}

TEST(Deal, dgx_h100_gives_each_gpu_its_own_nic_and_never_storage) {
  const node::Node node = test::dgx_h100().build();
  const auto result = deal_of(node);
  for (std::size_t g = 0; g < 8; ++g) {
    ASSERT_THAT(result.gpus[g].nics, SizeIs(1));
    const node::Nic& nic = node.nics[result.gpus[g].nics[0]];
    EXPECT_EQ(node.find_pci(*nic.pci)->root, node.find_pci(node.gpus[g].pci)->root);
    EXPECT_EQ(result.gpus[g].nearness.relation, topology::Relation::pxb);
  }
  EXPECT_THAT(result.cards, SizeIs(8));
  EXPECT_THAT(result.spare, IsEmpty());
  EXPECT_EQ(result.gpus[0].why,
            "PXB below 0000:11:00.0; 1 of 8 NICs is nearest, to this GPU alone");
}

TEST(Deal, dgx_a100_deals_two_nics_of_a_switch_one_to_one) {
  const auto result = deal_of(test::dgx_a100().build());
  EXPECT_THAT(nics_by_gpu(result),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3),
                          ElementsAre(4), ElementsAre(5), ElementsAre(6), ElementsAre(7)));
  EXPECT_THAT(result.gpus[1].nearest, ElementsAre(0, 1));
}

TEST(Deal, four_nics_to_a_gpu_come_together) {
  const auto result = deal_of(test::eight_gpus_32_nics().build());
  EXPECT_EQ(result.per_gpu, 4U);
  EXPECT_THAT(result.gpus[0].nics, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(result.gpus[7].nics, ElementsAre(28, 29, 30, 31));
}

/// Four NICs with four of eight GPUs; the other socket has none.
NodeBuilder half_machine() {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  for (int i = 0; i < 8; ++i) {
    const Slot sw =
        b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x10 * i), i / 4)));
    b.gpu(b.bridge(sw));
    if (i < 4) b.nic(b.bridge(sw));
  }
  return b;
}

TEST(Deal, gpus_without_a_near_nic_are_spread_over_all) {
  const auto result = deal_of(half_machine().build());
  EXPECT_THAT(nics_by_gpu(result),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3),
                          ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(result.gpus[4].why, HasSubstr("SYS; 4 of 4 NICs are nearest"));
}

/// So many of both below one switch.
node::Node one_switch(int gpus, int nics) {
  NodeBuilder b;
  b.numa(0, 0);
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  for (int i = 0; i < gpus; ++i) b.gpu(b.bridge(sw));
  for (int i = 0; i < nics; ++i) b.nic(b.bridge(sw));
  return b.build();
}

TEST(Deal, six_gpus_that_share_four_nics_leave_none_out) {
  EXPECT_THAT(nics_by_gpu(deal_of(one_switch(6, 4))),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(2),
                          ElementsAre(2), ElementsAre(3)));
}

TEST(Deal, gpus_without_a_near_nic_take_those_that_nobody_has_first) {
  auto b = half_machine();
  b.nic(b.bridge(b.host_bridge(0xf0, 1)));
  const auto result = deal_of(b.build());
  EXPECT_THAT(result.gpus[4].nics, ElementsAre(4));
  EXPECT_EQ(result.gpus[4].nearness.relation, topology::Relation::node);
}

TEST(Deal, nps4_falls_back_to_the_same_socket) {
  NodeBuilder b;
  for (int i = 0; i < 8; ++i) b.numa(i, i / 4);
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x10, 1)));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw));
  b.gpu(b.bridge(b.host_bridge(0x30, 3)));
  b.gpu(b.bridge(b.host_bridge(0x80, 5)));
  const Slot other = b.pcie_switch(b.bridge(b.host_bridge(0xa0, 7)));
  b.gpu(b.bridge(other));
  b.nic(b.bridge(other));
  EXPECT_THAT(nics_by_gpu(deal_of(b.build())),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(1)));
}

TEST(Deal, nearest_groups_are_dealt_first) {
  NodeBuilder b;
  b.numa(0, 0);
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x20, 0)));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw));
  b.nic(b.bridge(b.host_bridge(0x30, 0)));
  const auto result = deal_of(b.build());
  EXPECT_THAT(result.gpus[1].nics, ElementsAre(0)) << "PIX before NODE";
  EXPECT_THAT(result.gpus[0].nics, ElementsAre(1)) << "the other one is still free";
}

TEST(Deal, a_gpu_leaves_as_many_nics_to_gpus_with_nothing_nearer) {
  NodeBuilder b;
  b.numa(0, 0);
  const Slot root = b.host_bridge(0x10, 0);
  const Slot sw = b.pcie_switch(b.bridge(root));
  b.gpu(b.bridge(sw));
  for (int i = 0; i < 3; ++i) b.nic(b.bridge(sw));
  for (int i = 0; i < 2; ++i) b.gpu(b.bridge(root));
  for (int i = 0; i < 5; ++i)
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x80 + i), 1)));
  const auto result = deal_of(b.build());
  EXPECT_EQ(result.per_gpu, 3U);
  EXPECT_THAT(nics_by_gpu(result), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)))
      << "three GPUs depend on three NICs; with three for the first the others would collide";
}

TEST(Deal, share_of_an_outer_group_counts_the_gpus_inside) {
  NodeBuilder b;
  b.numa(0, 0);
  const Slot root = b.host_bridge(0x10, 0);
  const Slot sw = b.pcie_switch(b.bridge(root));
  b.gpu(b.bridge(sw));
  for (int i = 0; i < 4; ++i) b.nic(b.bridge(sw));
  b.gpu(b.bridge(b.host_bridge(0x40, 0)));
  for (int i = 0; i < 2; ++i) b.nic(b.bridge(root));
  const auto result = deal_of(b.build());
  EXPECT_EQ(result.per_gpu, 3U);
  EXPECT_THAT(nics_by_gpu(result), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
}

TEST(Deal, uneven_machine_gives_what_is_near_and_no_more) {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  const Slot poor = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(poor));
  b.nic(b.bridge(poor));
  const Slot rich = b.pcie_switch(b.bridge(b.host_bridge(0x80, 1)));
  b.gpu(b.bridge(rich));
  for (int i = 0; i < 6; ++i) b.nic(b.bridge(rich));
  const node::Node node = b.build();
  EXPECT_THAT(nics_by_gpu(deal_of(node)), ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3)));
  node::Node poorer = node;
  poorer.nics.erase(poorer.nics.begin());
  EXPECT_THAT(nics_by_gpu(deal_of(poorer)), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)))
      << "a GPU that loses all of its nearest NICs is dealt anew";
}

TEST(Deal, both_ports_of_a_card_come_together) {
  NodeBuilder b;
  b.numa(0, 0);
  for (int i = 0; i < 2; ++i) {
    const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x10 * i), 0)));
    b.gpu(b.bridge(sw));
    b.nic(b.bridge(sw), 2);
  }
  const auto result = deal_of(b.build());
  EXPECT_EQ(result.per_gpu, 1U) << "two cards for two GPUs, not four NICs";
  EXPECT_THAT(nics_by_gpu(result), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(Deal, spare_among_the_nearest_is_a_warning) {
  const auto result = deal_of(one_switch(2, 3));
  EXPECT_THAT(result.spare, ElementsAre(2));
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_EQ(result.warnings[0],
            "mlx5_2 is among the nearest NICs of GPU 0 (0000:13:00.0) and dealt to none: is it a "
            "compute NIC?");
}

TEST(Deal, spare_far_from_every_gpu_is_no_warning) {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw));
  b.nic(b.bridge(b.host_bridge(0x80, 1)));
  const auto result = deal_of(b.build());
  EXPECT_THAT(result.spare, ElementsAre(1));
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Deal, share_of_a_gpu_rounds_half_down) {
  const auto per_gpu = [](int gpus, int nics) { return deal_of(one_switch(gpus, nics)).per_gpu; };
  EXPECT_EQ(per_gpu(8, 4), 1U);
  EXPECT_EQ(per_gpu(8, 12), 1U);
  EXPECT_EQ(per_gpu(8, 13), 2U);
  EXPECT_EQ(per_gpu(8, 16), 2U);
  EXPECT_EQ(per_gpu(4, 10), 2U);
  EXPECT_EQ(per_gpu(1, 3), 3U);
  EXPECT_EQ(per_gpu(0, 3), 1U);
}

TEST(Deal, nothing_is_dealt_without_compute_nics_and_warnings_say_why) {
  NodeBuilder b;
  b.raw().hypervisor = true;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0))).ethernet(100).netdev("eth0").default_route();
  const auto result = deal_of(b.build());
  EXPECT_THAT(result.gpus[0].nics, IsEmpty());
  EXPECT_EQ(result.gpus[0].why, "no compute NIC");
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_EQ(result.warnings[0],
            "no NIC is a compute NIC: mlx5_0 is management (its netdev eth0 carries the default "
            "route)");
}

TEST(Deal, machine_without_nics_or_without_gpus_is_silent) {
  NodeBuilder gpus;
  gpus.gpu(gpus.bridge(gpus.host_bridge(0x10, 0)));
  EXPECT_THAT(deal_of(gpus.build()).warnings, IsEmpty());
  NodeBuilder nics;
  nics.nic(nics.bridge(nics.host_bridge(0x10, 0)));
  const auto result = deal_of(nics.build());
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_THAT(result.spare, ElementsAre(0));
  EXPECT_THAT(deal_of(node::Node{}).gpus, IsEmpty());
}

TEST(Deal, virtual_functions_take_nothing_from_their_card) {
  NodeBuilder b;
  b.numa(0, 0);
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw)).virtual_functions(8);
  const auto result = deal_of(b.build());
  EXPECT_EQ(result.per_gpu, 1U);
  EXPECT_THAT(result.gpus[0].nics, ElementsAre(0));
  EXPECT_THAT(result.spare, IsEmpty());
}

TEST(Deal, soft_device_serves_where_there_is_nothing_else) {
  NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.soft_nic("rxe0", "eth0");
  const auto result = deal_of(b.build());
  EXPECT_THAT(result.gpus[0].nics, ElementsAre(0));
  EXPECT_EQ(result.gpus[0].nearness.relation, topology::Relation::sys);
}

TEST(Deal, amd_gpus_go_by_the_depth_of_the_common_switch) {
  NodeBuilder b;
  b.numa(0, 0);
  const Slot outer = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  for (int i = 0; i < 2; ++i) {
    const Slot inner = b.pcie_switch(b.bridge(outer));
    b.nic(b.bridge(inner));
    b.gpu(b.bridge(b.pcie_switch(b.bridge(inner))), gpu::GpuVendor::amd);
  }
  EXPECT_THAT(nics_by_gpu(deal_of(b.build())), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Deal, port_state_and_driver_move_nothing) {
  const auto reference = nics_by_gpu(deal_of(test::dgx_h100().build()));
  for (std::size_t i = 0; i < 12; ++i) {
    node::Node node = test::dgx_h100().build();
    node.nics[i].ports[0].state = node::PortState::down;
    node.nics[i].ports[0].rate_gbps = 10;
    EXPECT_EQ(nics_by_gpu(deal_of(node)), reference) << "down: " << i;
    node.nics[i].registered = false;
    node.nics[i].ports.clear();
    node.nics[i].sys_image_guid.reset();
    EXPECT_EQ(nics_by_gpu(deal_of(node)), reference) << "no driver: " << i;
  }
}

}  // namespace
}  // namespace railhead::affinity
