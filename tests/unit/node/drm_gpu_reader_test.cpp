// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using test::SysfsTree;
using ::testing::IsEmpty;

const std::string kCard = "pci0000:16/0000:16:01.0/0000:17:00.0/0000:18:01.0/0000:19:00.0";
const std::string kOther = "pci0000:26/0000:26:01.0/0000:27:00.0";

TEST(DrmGpuReader, an_intel_gpu_is_one_under_either_driver) {
  SysfsTree tree;
  tree.pci(kCard, "xe", "8086:E223", "30000").in_class("drm", "renderD128");
  const auto node = tree.pci(kOther, "i915", "8086:0BD5", "38000").read();
  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::intel);
  EXPECT_EQ(node.gpus[0].drm_render, 128U);
  EXPECT_EQ(node.gpus[0].index, 0U);
  EXPECT_EQ(node.gpus[1].index, 1U);
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(DrmGpuReader, the_graphics_of_an_intel_processor_is_none) {
  SysfsTree tree;
  tree.pci("0000:00:02.0", "xe", "8086:4680", "30000").in_class("drm", "renderD128");
  tree.pci("0000:00:02.1", "i915", "8086:4680", "30000").in_class("drm", "renderD129");
  const auto node = tree.read();
  EXPECT_THAT(node.gpus, IsEmpty());
  EXPECT_THAT(node.pci, IsEmpty());
}

TEST(DrmGpuReader, what_a_guest_or_no_driver_of_the_row_has_is_none) {
  SysfsTree tree;
  tree.pci(kCard, "vfio-pci", "8086:0BD5", "38000").add("d /sys/bus/pci/drivers/xe\n");
  const auto node = tree.pci(kOther, "", "8086:0BD5", "38000").read();
  EXPECT_THAT(node.gpus, IsEmpty());
}

TEST(DrmGpuReader, an_intel_accelerator_is_no_gpu) {
  for (const char* driver : {"dfl-pci", ""}) {
    const auto node = SysfsTree().pci(kCard, driver, "8086:BCCE", "120000").read();
    EXPECT_THAT(node.gpus, IsEmpty()) << driver;
  }
}

TEST(DrmGpuReader, each_vendor_counts_by_itself) {
  SysfsTree tree;
  tree.pci(kCard, "xe", "8086:E223", "30000").in_class("drm", "renderD128");
  tree.pci(kOther, "amdgpu", "1002:74A1", "120000")
      .pci("0000:37:00.0", "hydcu", "1D94:55B7", "38000");
  const auto node = tree.read();
  ASSERT_EQ(node.gpus.size(), 3U);
  for (const auto& gpu : node.gpus) EXPECT_EQ(gpu.index, 0U) << gpu.pci.str();
}

}  // namespace
}  // namespace railhead::node
