// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace railhead::gpu {
namespace {

TEST(GpuVendors, every_row_can_be_found_and_read) {
  std::set<std::uint16_t> vendors;
  for (const GpuRow& row : kGpuRows) {
    EXPECT_TRUE(vendors.insert(row.pci_vendor).second) << row.name;
    EXPECT_EQ(gpu_row_of_pci(row.pci_vendor), &row) << row.name;
    ASSERT_NE(row.drivers.begin(), row.drivers.end()) << row.name;
    for (const auto driver : row.drivers) EXPECT_TRUE(is_gpu_driver(driver)) << driver;
    ASSERT_NE(row.nodes.begin(), row.nodes.end()) << row.name;
    const auto node = gpu_node(std::string(*row.nodes.begin()) + "130");
    ASSERT_TRUE(node) << row.name;
    EXPECT_EQ(node->major, row.major);
    EXPECT_EQ(node->minor, 130U);
  }
  EXPECT_EQ(gpu_row_of_pci(0x15b3), nullptr);
  EXPECT_FALSE(is_gpu_driver("nvme"));
  EXPECT_FALSE(is_gpu_driver(""));
}

TEST(GpuVendors, control_nodes_are_kept_and_are_no_gpu) {
  for (const auto* path : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/kfd"}) {
    EXPECT_FALSE(gpu_node(path)) << path;
    EXPECT_TRUE(is_gpu_path(path)) << path;
  }
  EXPECT_FALSE(gpu_node("/dev/dri/card99999999999"));
  EXPECT_FALSE(is_gpu_path("/dev/null"));
}

TEST(GpuVendors, a_cdi_kind_may_have_a_subdomain) {
  EXPECT_EQ(gpu_row_of_cdi("intel.com/gpu"), &gpu_row(GpuVendor::intel));
  EXPECT_EQ(gpu_row_of_cdi("amd.com/gpu"), &gpu_row(GpuVendor::amd));
  EXPECT_EQ(gpu_row_of_cdi("k8s.gpu.nvidia.com/claim"), &gpu_row(GpuVendor::nvidia));
  EXPECT_EQ(gpu_row_of_cdi("notintel.com/gpu"), nullptr);
  EXPECT_EQ(gpu_row_of_cdi("intel.com/qat"), nullptr);
  EXPECT_EQ(gpu_row_of_cdi(""), nullptr);
}

TEST(GpuVendors, a_variable_names_gpus_or_says_what_numbers_mean) {
  for (const auto* one : {"NVIDIA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=",
                          "AMD_VISIBLE_DEVICES=all", "ZE_AFFINITY_MASK=0.1"}) {
    EXPECT_TRUE(names_gpus(one)) << one;
  }
  EXPECT_FALSE(names_gpus("ZE_FLAT_DEVICE_HIERARCHY=FLAT"));
  EXPECT_TRUE(is_gpu_variable("ZE_FLAT_DEVICE_HIERARCHY=FLAT"));
  EXPECT_FALSE(is_gpu_variable("ZE_AFFINITY_MASKS=0"));
  EXPECT_FALSE(is_gpu_variable("=x"));
}

TEST(GpuVendors, the_default_of_resources_is_that_of_all_rows) {
  std::string all;
  for (const GpuRow& row : kGpuRows) {
    for (const auto pattern : row.resources) all += (all.empty() ? "" : ",") + std::string(pattern);
  }
  EXPECT_EQ(kGpuResources, all);
  EXPECT_TRUE(kGpuResources.starts_with("nvidia.com/gpu*,nvidia.com/mig-*,amd.com/gpu,"));
}

}  // namespace
}  // namespace railhead::gpu
