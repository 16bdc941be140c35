// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <gtest/gtest.h>

namespace railhead::node {
namespace {

TEST(Node, finds_functions_nics_and_netdevs_or_nothing) {
  Node node;
  node.pci.resize(2);
  node.pci[0].address = {0, 0x18, 0, 0};
  node.pci[1].address = {0x10000, 0, 4, 0};
  node.nics.resize(1);
  node.nics[0].name = "mlx5_0";
  node.netdevs.resize(1);
  node.netdevs[0].name = "ens1";
  EXPECT_EQ(node.find_pci({0x10000, 0, 4, 0}), &node.pci[1]);
  EXPECT_EQ(node.find_pci({0, 0x19, 0, 0}), nullptr);
  EXPECT_EQ(node.find_pci({0xffffffff, 0, 0, 0}), nullptr);
  EXPECT_EQ(node.find_nic("mlx5_0"), &node.nics[0]);
  EXPECT_EQ(node.find_nic("mlx5"), nullptr);
  EXPECT_EQ(node.find_netdev("ens1"), &node.netdevs[0]);
  EXPECT_EQ(node.find_netdev(""), nullptr);
}

TEST(Node, states_and_link_layers_have_the_kernels_words) {
  EXPECT_EQ(to_string(PortState::nop), "NOP");
  EXPECT_EQ(to_string(PortState::active_defer), "ACTIVE_DEFER");
  EXPECT_EQ(to_string(LinkLayer::infiniband), "InfiniBand");
  EXPECT_EQ(to_string(LinkLayer::unknown), "Unknown");
}

TEST(Node, bridges_and_virtual_functions_say_what_they_are) {
  PciDevice device;
  device.class_code = 0x060400;
  EXPECT_TRUE(device.is_bridge());
  EXPECT_FALSE(device.is_vf());
  device.class_code = 0x060000;
  device.physfn = PciAddress{};
  EXPECT_FALSE(device.is_bridge());
  EXPECT_TRUE(device.is_vf());
}

}  // namespace
}  // namespace railhead::node
