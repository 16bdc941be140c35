// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using test::file_entry;
using test::node_of;
using test::SysfsTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string gpu(const std::string& bus, const std::string& driver) {
  return SysfsTree().pci("0000:" + bus + ":00.0", driver, "10DE:2330", "30200").entries();
}

std::string information(const std::string& bus, const std::string& text) {
  return file_entry("/proc/driver/nvidia/gpus/0000:" + bus + ":00.0/information", text);
}

std::vector<std::string> addresses(const Node& node) {
  std::vector<std::string> found;
  for (const auto& one : node.gpus) found.push_back(one.pci.str());
  return found;
}

TEST(NvidiaReader, information_gives_uuid_minor_and_model) {
  const auto node = node_of(
      gpu("18", "nvidia") +
      information("18",
                  "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 120\n"
                  "GPU UUID: \t GPU-0a1b2c3d-0001-0002-0003-000000000004\n"
                  "Bus Location: \t 0000:18:00.0\nDevice Minor: \t 3\nGPU Excluded:\t No\n"));
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].uuid, "GPU-0a1b2c3d-0001-0002-0003-000000000004");
  EXPECT_EQ(node.gpus[0].minor, 3U);
  EXPECT_EQ(node.gpus[0].model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(node.gpus[0].index, 0U);
  EXPECT_EQ(node.gpus[0].driver, "nvidia");
}

TEST(NvidiaReader, question_marks_are_no_uuid_and_old_drivers_have_no_minor) {
  const auto node = node_of(gpu("18", "nvidia") +
                            information("18", "Model: Tesla\nGPU UUID: GPU-????????\x2d????\n"));
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_EQ(node.gpus[0].uuid, std::nullopt);
  EXPECT_EQ(node.gpus[0].minor, std::nullopt);
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(NvidiaReader, functions_of_other_drivers_are_not_this_nodes_gpus) {
  const auto node = node_of(gpu("18", "nvidia") + gpu("19", "vfio-pci") + gpu("1a", "nouveau") +
                            gpu("1b", "") + "d /proc/driver/nvidia/gpus/0000:18:00.0\n");
  EXPECT_THAT(addresses(node), ElementsAre("0000:18:00.0"));
  EXPECT_EQ(node.pci.size(), 4U);
}

TEST(NvidiaReader, the_drivers_folder_is_enough) {
  const auto node =
      node_of(gpu("18", "") + gpu("19", "") +
              "l /sys/bus/pci/drivers/nvidia/0000:19:00.0 -> ../../../../devices/pci0000:15/"
              "0000:19:00.0\nt /sys/bus/pci/drivers/nvidia/module 1\n");
  EXPECT_THAT(addresses(node), ElementsAre("0000:19:00.0"));
}

TEST(NvidiaReader, procfs_alone_is_enough) {
  const auto node = node_of(information("18", "Device Minor: 0\n"));
  EXPECT_THAT(addresses(node), ElementsAre("0000:18:00.0"));
  EXPECT_EQ(node.gpus[0].numa_node, std::nullopt);
}

TEST(NvidiaReader, a_picture_of_the_hardware_without_any_driver_shows_all_gpus) {
  const auto node = node_of(gpu("18", "") + gpu("19", "") + gpu("1a", "vfio-pci"));
  EXPECT_THAT(addresses(node), ElementsAre("0000:18:00.0", "0000:19:00.0"));
  EXPECT_EQ(node.gpus[1].index, 1U);
}

TEST(NvidiaReader, the_index_follows_the_bus_and_leaves_excluded_gpus_out) {
  const auto node = node_of(gpu("18", "nvidia") + gpu("19", "nvidia") + gpu("1a", "nvidia") +
                            information("18", "Device Minor: 2\nGPU Excluded: No\n") +
                            information("19", "Device Minor: 1\nGPU Excluded: Yes\n") +
                            information("1a", "Device Minor: 0\nGPU Excluded: No\n"));
  ASSERT_EQ(node.gpus.size(), 3U);
  EXPECT_EQ(node.gpus[0].index, 0U);
  EXPECT_EQ(node.gpus[1].index, std::nullopt);
  EXPECT_TRUE(node.gpus[1].excluded);
  EXPECT_EQ(node.gpus[2].index, 1U);
  EXPECT_EQ(node.gpus[2].minor, 0U);
}

TEST(NvidiaReader, nvswitches_and_vgpu_virtual_functions_are_not_gpus) {
  SysfsTree tree;
  tree.pci("0000:18:00.0", "nvidia", "10DE:2330", "30200");
  tree.pci("0000:18:00.4", "nvidia", "10DE:2330", "30200").vf_of("0000:18:00.0");
  tree.pci("0000:05:00.0", "nvidia", "10DE:22A3", "68000");
  tree.link("/sys/bus/pci/drivers/nvidia/0000:05:00.0", "/sys/devices/pci0000:15/0000:05:00.0");
  EXPECT_THAT(addresses(tree.read()), ElementsAre("0000:18:00.0"));
}

TEST(NvidiaReader, two_gpus_with_one_uuid_are_both_kept_and_reported) {
  const std::string text = "GPU UUID: GPU-0a1b2c3d-0001-0002-0003-000000000004\n";
  const auto node = node_of(information("18", text) + information("19", text));
  EXPECT_EQ(node.gpus.size(), 2U);
  EXPECT_EQ(node.gpus[1].uuid, node.gpus[0].uuid);
  ASSERT_EQ(node.problems.size(), 1U);
  EXPECT_THAT(node.problems[0].path, testing::HasSubstr("0000:19:00.0"));
  EXPECT_THAT(node.problems[0].what, testing::HasSubstr("0000:18:00.0"));
}

TEST(NvidiaReader, garbage_in_information_is_reported_and_the_gpu_stays) {
  for (const auto& text :
       {std::string("Device Minor: many\n"), std::string("Device Minor: 99999999\n"),
        std::string("Model: a\0b\n", 11), std::string("GPU UUID: \xff\n"),
        std::string(1U << 20U, 'x')}) {
    const auto node = node_of(information("18", text));
    EXPECT_EQ(node.gpus.size(), 1U);
    EXPECT_EQ(node.problems.size(), 1U);
  }
}

TEST(NvidiaReader, a_table_of_possible_mig_instances_is_no_list_of_real_ones) {
  const auto node = node_of(information("18", "Device Minor: 0\n") +
                            file_entry("/proc/driver/nvidia-caps/mig-minors",
                                       "config 1\ngpu0/gi1/access 12\ngpu0/gi1/ci0/access 13\n"));
  ASSERT_EQ(node.gpus.size(), 1U);
  EXPECT_THAT(node.gpus[0].mig, IsEmpty());
}

TEST(NvidiaReader, mig_instances_are_listed_by_minor_and_in_numerical_order) {
  const auto node = node_of(information("18", "Device Minor: 7\n") +
                            "t /proc/driver/nvidia/capabilities/gpu7/mig/gi10/access 1\n"
                            "t /proc/driver/nvidia/capabilities/gpu7/mig/gi2/ci0/access 1\n"
                            "t /proc/driver/nvidia/capabilities/gpu7/mig/gi2/access 1\n"
                            "t /proc/driver/nvidia/capabilities/gpu7/mig/gix/access 1\n");
  EXPECT_THAT(node.gpus.at(0).mig, ElementsAre(MigInstance{2, 0}, MigInstance{10, std::nullopt}));
}

}  // namespace
}  // namespace railhead::node
