// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using test::file_entry;
using test::SysfsTree;
using ::testing::IsEmpty;

const std::string kFolder = "/sys/devices/pci0000:15/0000:05:00.0";

SysfsTree with_gpu() {
  return SysfsTree().pci("0000:05:00.0", "amdgpu", "1002:74A1", "120000");
}

SysfsTree with_kfd(const std::string& properties) {
  return with_gpu().add(file_entry("/sys/class/kfd/kfd/topology/nodes/2/properties", properties));
}

TEST(AmdReader, drm_minors_are_found_by_pci_position) {
  auto tree = with_gpu().in_class("drm", "renderD128").in_class("drm", "card1");
  tree.link("/sys/class/drm/card1-DP-1", kFolder + "/drm/card1/card1-DP-1");
  const auto node = tree.text("/sys/class/drm/version", "drm 1.1.0 20060810").read();
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::amd);
  EXPECT_EQ(node.gpus[0].drm_card, 1U);
  EXPECT_EQ(node.gpus[0].drm_render, 128U);
  EXPECT_EQ(node.gpus[0].index, 0U);
  EXPECT_EQ(node.gpus[0].uuid, std::nullopt);
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(AmdReader, minors_are_found_through_device_links_as_well) {
  const auto node = with_gpu().link("/sys/class/drm/renderD129/device", kFolder).read();
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].drm_render, 129U);
}

TEST(AmdReader, the_uuid_is_the_unique_id_of_kfd) {
  auto tree =
      with_kfd("simd_count 1216\nlocation_id 1280\ndomain 0\nunique_id 1311768467463790320\n");
  tree.add(file_entry("/sys/class/kfd/kfd/topology/nodes/0/properties",
                      "cpu_cores_count 96\nunique_id 0\n"));
  const auto node = tree.read();
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].uuid, "GPU-123456789abcdef0");
}

TEST(AmdReader, garbage_of_kfd_is_no_uuid) {
  const auto node = with_kfd(std::string("location_id 1280\nunique_id -5\n\0\0 \n", 34)).read();
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].uuid, std::nullopt);
}

TEST(AmdReader, a_hygon_dcu_is_one_too) {
  SysfsTree tree;
  tree.pci("0000:37:00.0", "hydcu", "1D94:55B7", "38000");
  tree.pci("0000:3a:00.0", "hycu", "1D94:6210", "38000");
  const auto node = tree.pci("0000:3f:00.0", "vfio-pci", "1D94:55B7", "38000").read();
  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::hygon);
  EXPECT_EQ(node.gpus[1].index, 1U);
}

TEST(AmdReader, on_board_vga_and_functions_of_other_drivers_are_not_gpus) {
  SysfsTree tree;
  tree.pci("0000:01:00.0", "radeon", "1002:515E", "30000");
  tree.pci("0000:02:00.0", "amdgpu", "1002:1638", "30000");
  const auto node = tree.pci("0000:03:00.0", "vfio-pci", "1002:74A1", "120000").read();
  EXPECT_THAT(node.gpus, IsEmpty());
}

}  // namespace
}  // namespace railhead::node
