// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "affinity/affinity.h"
#include "unit/node_builder.h"

namespace railhead::affinity {
namespace {

using test::NodeBuilder;

node::Node one_nic() {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0)));
  return b.build();
}

TEST(Usability, active_port_and_uverbs_node_are_enough) {
  const auto all = usability_of(one_nic());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].usable);
  EXPECT_TRUE(all[0].reason.empty());
}

TEST(Usability, one_active_port_of_two_is_enough) {
  node::Node node = one_nic();
  node::Port down = node.nics[0].ports[0];
  down.number = 2;
  down.state = node::PortState::down;
  node.nics[0].ports.push_back(down);
  EXPECT_TRUE(usability_of(node)[0].usable);
}

TEST(Usability, every_port_that_is_not_active_is_named) {
  node::Node node = one_nic();
  node.nics[0].ports[0].state = node::PortState::init;
  node::Port silent = node.nics[0].ports[0];
  silent.number = 2;
  silent.state.reset();
  node.nics[0].ports.push_back(silent);
  const auto all = usability_of(node);
  EXPECT_FALSE(all[0].usable);
  EXPECT_EQ(all[0].reason, "port 1 is INIT, port 2 does not tell its state");
}

TEST(Usability, a_source_without_character_devices_says_nothing_of_them) {
  node::Node node = one_nic();
  node.nics[0].uverbs.clear();
  node.devices_known = false;
  EXPECT_TRUE(usability_of(node)[0].usable);
}

TEST(Usability, missing_driver_node_or_port_is_said) {
  node::Node node = one_nic();
  node.nics[0].ports.clear();
  EXPECT_EQ(usability_of(node)[0].reason, "it has no ports");
  node.nics[0].uverbs.clear();
  EXPECT_EQ(usability_of(node)[0].reason, "it has no uverbs device (is ib_uverbs loaded?)");
  node.nics[0].registered = false;
  EXPECT_EQ(usability_of(node)[0].reason, "no RDMA driver is bound");
}

TEST(Usability, what_is_in_another_network_namespace_carries_nothing_here) {
  node::Node node;
  node.nics.resize(1);
  node.nics[0].elsewhere = true;
  const auto usable = usability_of(node);
  EXPECT_EQ(usable[0].reason, "its RDMA device is in another network namespace");
  EXPECT_FALSE(usable[0].by_ports);
}

}  // namespace
}  // namespace railhead::affinity
