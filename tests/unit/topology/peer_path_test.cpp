// SPDX-License-Identifier: Apache-2.0
#include "topology/peer_path.h"

#include <gtest/gtest.h>

#include "unit/node_builder.h"

namespace railhead::topology {
namespace {

using test::NodeBuilder;

TEST(PeerPath, what_lies_below_the_shared_switch_is_between) {
  NodeBuilder b;
  const auto above = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  const auto of_gpu = b.bridge(above);
  const auto of_nic = b.bridge(above);
  b.gpu(of_gpu);
  b.nic(of_nic);
  b.nic(b.bridge(b.host_bridge(0x20, 0)));
  const auto node = b.build();
  const auto& gpu = *node.find_pci(node.gpus[0].pci);
  const std::vector between{of_gpu.bridges.back(), of_nic.bridges.back()};
  EXPECT_EQ(bridges_between(gpu, *node.find_pci(*node.nics[0].pci)), between);
  EXPECT_TRUE(bridges_between(gpu, *node.find_pci(*node.nics[1].pci)).empty());
}

TEST(PeerPath, acs_stays_where_the_host_or_the_firmware_needs_it) {
  node::Node node;
  EXPECT_EQ(why_acs_stays(node), "");
  node.hypervisor = true;
  EXPECT_NE(why_acs_stays(node), "");
  node.hypervisor = false;
  node.cpu.arch = "arm64";
  EXPECT_NE(why_acs_stays(node), "");
  node.cpu.arch = "x86_64";
  node.pci.emplace_back();
  node.pci[0].vendor = 0x15b3;
  node.pci[0].device = 0x2100;  // data-direct
  EXPECT_NE(why_acs_stays(node), "");
}

}  // namespace
}  // namespace railhead::topology
