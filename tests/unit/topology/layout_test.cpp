// SPDX-License-Identifier: Apache-2.0
#include "topology/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "topology/topology.h"
#include "unit/node_builder.h"

namespace railhead::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

node::PciAddress at(std::string_view text) {
  return node::PciAddress::parse(text).value();
}

/// A GPU and a NIC on host bridges of their own, as Hyper-V shows them.
test::NodeBuilder gpu_and_nic() {
  test::NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  b.gpu(b.host_bridge(0, 0, 1));
  b.nic(b.host_bridge(0, 0, 0x101));
  return b;
}

/// Below one switch: its upstream port and a downstream port each.
Layout one_switch() {
  const auto up = at("ffff:ff:01.0");
  return {{{at("0001:00:00.0"), "pciffff:fe", {up, at("ffff:ff:02.0")}, 1},
           {at("0101:00:00.0"), "pciffff:fe", {up, at("ffff:ff:02.1")}, 1}},
          {}};
}

TEST(Layout, moves_functions_below_a_switch_that_sysfs_does_not_have) {
  const node::Node node = moved(gpu_and_nic().build(), one_switch());
  EXPECT_EQ(make_topology(node).gpu_nic[0][0].relation, Relation::pix);
}

TEST(Layout, adds_its_bridges_in_their_places) {
  const node::Node node = moved(gpu_and_nic().build(), one_switch());
  EXPECT_TRUE(std::ranges::is_sorted(
      node.pci,
      [](const node::PciDevice& a, const node::PciDevice& b) { return a.address < b.address; }));
  const node::PciDevice* up = node.find_pci(at("ffff:ff:01.0"));
  const node::PciDevice* down = node.find_pci(at("ffff:ff:02.1"));
  ASSERT_NE(up, nullptr);
  ASSERT_NE(down, nullptr);
  EXPECT_TRUE(up->is_bridge());
  EXPECT_THAT(up->bridges, IsEmpty());
  EXPECT_THAT(down->bridges, ElementsAre(up->address));
  EXPECT_EQ(down->root, "pciffff:fe");
  EXPECT_EQ(down->numa_node, 1);
}

TEST(Layout, takes_the_numa_nodes_along) {
  const node::Node node = moved(gpu_and_nic().build(), one_switch());
  EXPECT_EQ(node.gpus[0].numa_node, 1);
  EXPECT_EQ(node.nics[0].numa_node, 1);
  EXPECT_EQ(node.find_pci(at("0101:00:00.0"))->numa_node, 1);
}

TEST(Layout, keeps_the_numa_node_of_sysfs_where_it_has_none) {
  Layout layout = one_switch();
  for (auto& position : layout.positions) position.numa_node.reset();
  EXPECT_EQ(moved(gpu_and_nic().build(), layout).gpus[0].numa_node, 0);
}

TEST(Layout, made_up_bridges_have_domains_that_no_machine_has) {
  EXPECT_TRUE(is_invented(at("ffff:ff:01.0")));
  EXPECT_TRUE(is_invented({kInventedDomain, 3, 0, 0}));
  EXPECT_FALSE(is_invented(at("10000:e1:00.0")));
  EXPECT_FALSE(is_invented(at("ffff:00:02.0")));  // Hyper-V may draw this domain
  EXPECT_FALSE(is_invented(at("0000:15:01.0")));
}

TEST(Layout, leaves_functions_that_it_does_not_know) {
  auto b = gpu_and_nic();
  b.nic(b.host_bridge(0, 0, 0x102));
  const node::Node before = b.build();
  const node::Node node = moved(before, one_switch());
  EXPECT_EQ(*node.find_pci(at("0102:00:00.0")), *before.find_pci(at("0102:00:00.0")));
}

TEST(Layout, ignores_functions_that_are_not_there_and_their_bridges) {
  const node::Node before = gpu_and_nic().build();
  const Layout elsewhere{{{at("0007:00:00.0"), "pciffff:fe", {at("ffff:ff:09.0")}, 0}}, {}};
  EXPECT_EQ(moved(before, elsewhere), before);
}

TEST(Layout, function_0_takes_the_rest_of_its_card_along) {
  test::NodeBuilder b;
  b.gpu(b.host_bridge(0, 0, 1));
  b.nic(b.host_bridge(0, 0, 0x101), 2);
  const node::Node node = moved(b.build(), one_switch());
  EXPECT_EQ(node.find_pci(at("0101:00:00.1"))->root, "pciffff:fe");
  EXPECT_EQ(node.nics[1].numa_node, 1);
}

TEST(Layout, virtual_functions_follow_their_physical_function) {
  test::NodeBuilder b;
  b.gpu(b.host_bridge(0, 0, 1));
  b.nic(b.host_bridge(0, 0, 0x101)).virtual_functions(9);
  const node::Node node = moved(b.build(), one_switch());
  ASSERT_TRUE(node.find_pci(at("0101:00:02.0"))->is_vf());
  EXPECT_EQ(node.find_pci(at("0101:00:02.0"))->bridges, node.find_pci(at("0101:00:00.0"))->bridges);
}

TEST(Layout, a_bridge_of_sysfs_moves_with_what_is_below_it) {
  test::NodeBuilder b;
  const auto below = b.bridge(b.host_bridge(0x10, 0));
  b.gpu(below);
  const node::Node before = b.build();
  const auto gpu = before.gpus[0].pci;
  const Layout layout{{{gpu, "pci0000:20", {at("ffff:ff:01.0"), below.bridges[0]}, 1}}, {}};
  const node::Node node = moved(before, layout);
  EXPECT_EQ(node.find_pci(below.bridges[0])->root, "pci0000:20");
  EXPECT_THAT(node.find_pci(below.bridges[0])->bridges, ElementsAre(at("ffff:ff:01.0")));
  EXPECT_EQ(node.pci.size(), before.pci.size() + 1);
}

TEST(Layout, an_endpoint_named_as_a_bridge_stays_an_endpoint) {
  const Layout hostile{
      {{at("0001:00:00.0"), "pciffff:fe", {at("0101:00:00.0"), at("0001:00:00.0")}, 0}}, {}};
  const node::Node before = gpu_and_nic().build();
  const node::Node node = moved(before, hostile);
  EXPECT_EQ(node.pci.size(), before.pci.size());
  EXPECT_FALSE(node.find_pci(at("0101:00:00.0"))->is_bridge());
}

}  // namespace
}  // namespace railhead::topology
