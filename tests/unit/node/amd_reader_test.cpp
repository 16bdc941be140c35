// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using test::file_entry;
using test::node_of;
using test::pci_function;
using ::testing::IsEmpty;

const std::string kGpu = pci_function("pci0000:00/0000:05:00.0", "120000", "1002:74A1", "amdgpu");
const std::string kRender =
    "l /sys/class/drm/renderD128 -> ../../devices/pci0000:00/0000:05:00.0/drm/renderD128\n"
    "l /sys/class/drm/card1 -> ../../devices/pci0000:00/0000:05:00.0/drm/card1\n"
    "l /sys/class/drm/card1-DP-1 -> ../../devices/pci0000:00/0000:05:00.0/drm/card1/card1-DP-1\n"
    "t /sys/class/drm/version drm 1.1.0 20060810\n";

TEST(AmdReader, drm_minors_are_found_by_pci_position) {
  const auto node = node_of(kGpu + kRender);
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::amd);
  EXPECT_EQ(node.gpus[0].drm_card, 1U);
  EXPECT_EQ(node.gpus[0].drm_render, 128U);
  EXPECT_EQ(node.gpus[0].index, 0U);
  EXPECT_EQ(node.gpus[0].uuid, std::nullopt);
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(AmdReader, minors_are_found_through_device_links_as_well) {
  const auto node = node_of(
      kGpu + "l /sys/class/drm/renderD129/device -> ../../../devices/pci0000:00/0000:05:00.0\n");
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].drm_render, 129U);
}

TEST(AmdReader, the_uuid_is_the_unique_id_of_kfd) {
  const auto node = node_of(
      kGpu +
      file_entry("/sys/class/kfd/kfd/topology/nodes/0/properties",
                 "cpu_cores_count 96\nunique_id 0\n") +
      file_entry("/sys/class/kfd/kfd/topology/nodes/2/properties",
                 "simd_count 1216\nlocation_id 1280\ndomain 0\nunique_id 1311768467463790320\n"));
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].uuid, "GPU-123456789abcdef0");
}

TEST(AmdReader, garbage_of_kfd_is_no_uuid) {
  const auto node =
      node_of(kGpu + file_entry("/sys/class/kfd/kfd/topology/nodes/2/properties",
                                std::string("location_id 1280\nunique_id -5\n\0\0 \n", 34)));
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].uuid, std::nullopt);
}

TEST(AmdReader, a_hygon_dcu_is_one_too) {
  const auto node =
      node_of(pci_function("pci0000:30/0000:37:00.0", "38000", "1D94:55B7", "hydcu") +
              pci_function("pci0000:30/0000:3a:00.0", "38000", "1D94:6210", "hycu") +
              pci_function("pci0000:30/0000:3f:00.0", "38000", "1D94:55B7", "vfio-pci"));
  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::hygon);
  EXPECT_EQ(node.gpus[1].index, 1U);
}

TEST(AmdReader, on_board_vga_and_functions_of_other_drivers_are_not_gpus) {
  const auto node =
      node_of(pci_function("pci0000:00/0000:01:00.0", "30000", "1002:515E", "radeon") +
              pci_function("pci0000:00/0000:02:00.0", "30000", "1002:1638", "amdgpu") +
              pci_function("pci0000:00/0000:03:00.0", "120000", "1002:74A1", "vfio-pci"));
  EXPECT_THAT(node.gpus, IsEmpty());
}

}  // namespace
}  // namespace railhead::node
