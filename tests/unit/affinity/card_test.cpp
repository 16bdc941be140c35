// SPDX-License-Identifier: Apache-2.0
#include "affinity/card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "unit/node_builder.h"

namespace railhead::affinity {
namespace {

using test::NodeBuilder;
using testing::ElementsAre;

std::vector<std::vector<std::size_t>> cards_of(const node::Node& node) {
  std::vector<Capability> capabilities;
  for (const auto& nic : node.nics) capabilities.push_back(capability_of(node, nic));
  std::vector<std::size_t> all(node.nics.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::vector<std::size_t>> nics;
  for (auto& card : make_cards(node, all, capabilities)) nics.push_back(card.nics);
  return nics;
}

TEST(Card, both_ports_of_a_card_are_one) {
  NodeBuilder b;
  const auto root = b.host_bridge(0x10, 0);
  b.nic(b.bridge(root), 2);
  b.nic(b.bridge(root));
  EXPECT_THAT(cards_of(b.build()), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST(Card, other_image_guid_in_one_slot_is_another_card) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0)), 2);
  node::Node node = b.build();
  node.nics[1].sys_image_guid = "image:other";
  EXPECT_THAT(cards_of(node), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Card, an_unreadable_or_zero_image_guid_does_not_part_a_card) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0)), 3);
  node::Node node = b.build();
  node.nics[1].sys_image_guid.reset();
  node.nics[2].sys_image_guid = "0000:0000:0000:0000";
  EXPECT_THAT(cards_of(node), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(Card, nics_on_the_flat_bus_of_a_virtual_machine_are_several) {
  NodeBuilder b;
  const auto bus = b.host_bridge(0x00, 0);
  b.nic(bus);
  b.nic(bus);
  node::Node node = b.build();
  for (auto& nic : node.nics) nic.sys_image_guid.reset();
  EXPECT_THAT(cards_of(node), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(Card, of_two_link_layers_only_the_ports_of_one_are_the_card) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0)), 2);
  node::Node node = b.build();
  node.nics[0].ports[0].link_layer = node::LinkLayer::ethernet;
  EXPECT_THAT(cards_of(node), ElementsAre(ElementsAre(1)));
}

TEST(Card, soft_devices_are_cards_of_their_own_and_come_last) {
  NodeBuilder b;
  b.soft_nic("rxe1", "eth0");
  b.soft_nic("rxe0", "eth0");
  b.nic(b.bridge(b.host_bridge(0x10, 0)));
  const node::Node node = b.build();
  EXPECT_THAT(cards_of(node), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_EQ(node.nics[1].name, "rxe0");
}

TEST(Card, virtual_functions_and_sub_functions_stand_alone) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).virtual_functions(4);
  node::Node node = b.build();
  node.nics.push_back(node.nics[0]);
  node.nics.back().sub_function = "mlx5_core.sf.1";
  std::vector<std::size_t> all;
  std::vector<Capability> capabilities;
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    all.push_back(i);
    capabilities.push_back({node::LinkLayer::infiniband, 400, 16});
  }
  EXPECT_EQ(make_cards(node, all, capabilities).size(), 6U);
}

}  // namespace
}  // namespace railhead::affinity
