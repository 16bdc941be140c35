// SPDX-License-Identifier: Apache-2.0
#include "affinity/wording.h"

#include <gtest/gtest.h>

#include "unit/machines.h"

namespace railhead::affinity {
namespace {

std::string text(const node::Node& node, std::size_t gpu, std::size_t nic) {
  const auto near = topology::make_topology(node).gpu_nic[gpu][nic];
  return nearness_text(node, node.gpus[gpu], node.nics[nic], near);
}

TEST(Wording, nearness_names_what_makes_it) {
  const node::Node h100 = test::dgx_h100().build();
  EXPECT_EQ(text(h100, 0, 0), "PXB below 0000:11:00.0");
  EXPECT_EQ(text(h100, 0, 1), "NODE on NUMA node 0");
  EXPECT_EQ(text(h100, 0, 6), "SYS");
  EXPECT_EQ(text(test::eight_gpus_four_nics().build(), 0, 1), "PHB at pci0000:10");
  EXPECT_EQ(text(test::eight_gpus_32_nics().build(), 0, 0), "PIX below 0000:11:00.0");
  EXPECT_EQ(text(test::dgx_a100().build(), 0, 2), "SYS on the same socket");
}

TEST(Wording, soft_device_has_nothing_to_name) {
  test::NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.soft_nic("rxe0", "eth0");
  EXPECT_EQ(text(b.build(), 0, 0), "SYS");
}

TEST(Wording, gpu_without_index_is_its_address) {
  node::Gpu gpu;
  gpu.pci = {0, 0x19, 0, 0};
  EXPECT_EQ(gpu_text(gpu), "GPU 0000:19:00.0");
  gpu.index = 3;
  EXPECT_EQ(gpu_text(gpu), "GPU 3 (0000:19:00.0)");
}

}  // namespace
}  // namespace railhead::affinity
