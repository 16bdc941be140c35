// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using test::node_of;
using test::pci_function;
using ::testing::IsEmpty;

std::string render(const std::string& path, unsigned minor) {
  const std::string name = "renderD" + std::to_string(minor);
  return "l /sys/class/drm/" + name + " -> ../../devices/" + path + "/drm/" + name + "\n";
}

const std::string kCard = "pci0000:16/0000:16:01.0/0000:17:00.0/0000:18:01.0/0000:19:00.0";
const std::string kIntegrated = "pci0000:00/0000:00:02.0";

TEST(DrmGpuReader, an_intel_gpu_is_one_under_either_driver) {
  const std::string other = "pci0000:26/0000:26:01.0/0000:27:00.0";
  const auto node = node_of(pci_function(kCard, "30000", "8086:E223", "xe") + render(kCard, 128) +
                            pci_function(other, "38000", "8086:0BD5", "i915"));
  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::intel);
  EXPECT_EQ(node.gpus[0].drm_render, 128U);
  EXPECT_EQ(node.gpus[0].index, 0U);
  EXPECT_EQ(node.gpus[1].index, 1U);
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(DrmGpuReader, the_graphics_of_an_intel_processor_is_none) {
  const auto node =
      node_of(pci_function(kIntegrated, "30000", "8086:4680", "xe") + render(kIntegrated, 128) +
              pci_function("pci0000:00/0000:00:02.1", "30000", "8086:4680", "i915") +
              render("pci0000:00/0000:00:02.1", 129));
  EXPECT_THAT(node.gpus, IsEmpty());
  EXPECT_THAT(node.pci, IsEmpty());
}

TEST(DrmGpuReader, what_a_guest_or_no_driver_of_the_row_has_is_none) {
  const auto node = node_of(
      pci_function(kCard, "38000", "8086:0BD5", "vfio-pci") + "d /sys/bus/pci/drivers/xe\n" +
      pci_function("pci0000:26/0000:26:01.0/0000:27:00.0", "38000", "8086:0BD5", ""));
  EXPECT_THAT(node.gpus, IsEmpty());
}

TEST(DrmGpuReader, an_intel_accelerator_is_no_gpu) {
  EXPECT_THAT(node_of(pci_function(kCard, "120000", "8086:BCCE", "dfl-pci")).gpus, IsEmpty());
  EXPECT_THAT(node_of(pci_function(kCard, "120000", "8086:BCCE", "")).gpus, IsEmpty());
}

TEST(DrmGpuReader, each_vendor_counts_by_itself) {
  const auto node = node_of(
      pci_function(kCard, "30000", "8086:E223", "xe") + render(kCard, 128) +
      pci_function("pci0000:26/0000:26:01.0/0000:27:00.0", "120000", "1002:74A1", "amdgpu") +
      pci_function("pci0000:30/0000:37:00.0", "38000", "1D94:55B7", "hydcu"));
  ASSERT_EQ(node.gpus.size(), 3U);
  for (const auto& gpu : node.gpus) EXPECT_EQ(gpu.index, 0U) << gpu.pci.str();
}

}  // namespace
}  // namespace railhead::node
