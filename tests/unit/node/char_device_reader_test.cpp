// SPDX-License-Identifier: Apache-2.0
#include "node/char_device_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node/hosts.h"
#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct ReadDevices {
  explicit ReadDevices(const std::string& entries) {
    const auto host = test::host_of(entries);
    Reader reader(*host);
    CharDeviceList list;
    list.refresh(reader, {.everything = true});
    devices = list.by_device();
    rdma_cm = read_rdma_cm(reader);
    list.report(reader);
    problems = reader.take_problems();
  }

  std::map<std::string, RdmaCharDevices> devices;
  std::optional<CharDevice> rdma_cm;
  std::vector<Problem> problems;
};

const std::string kVerbs0 =
    "t /sys/class/infiniband_verbs/abi_version 6\n"
    "t /sys/class/infiniband_verbs/uverbs0/ibdev mlx5_9\n";

TEST(CharDevices, belong_to_the_device_that_ibdev_names) {
  const ReadDevices read(kVerbs0 +
                         "t /sys/class/infiniband_verbs/uverbs0/dev 231:192\n"
                         "c /dev/infiniband/uverbs0 231:192 0660 0:107\n");
  EXPECT_THAT(read.devices.at("mlx5_9").uverbs,
              ElementsAre(CharDevice{"/dev/infiniband/uverbs0", 231, 192, 0660, 0, 107, true}));
  EXPECT_THAT(read.problems, IsEmpty());
}

TEST(CharDevices, without_a_node_have_the_kernels_mode) {
  const ReadDevices read(
      kVerbs0 +
      "t /sys/class/infiniband_verbs/uverbs0/dev 231:192\n"
      "t /sys/class/infiniband_mad/umad0/dev 231:0\nt /sys/class/infiniband_mad/umad0/ibdev "
      "mlx5_9\n"
      "t /sys/class/infiniband_mad/umad0/port 1\nt /sys/class/misc/rdma_cm/dev 10:121\n");
  EXPECT_THAT(read.devices.at("mlx5_9").uverbs,
              ElementsAre(CharDevice{"/dev/infiniband/uverbs0", 231, 192, 0666, 0, 0, false}));
  EXPECT_THAT(read.devices.at("mlx5_9").umads,
              ElementsAre(CharDevice{"/dev/infiniband/umad0", 231, 0, 0600, 0, 0, false}));
  EXPECT_EQ(read.rdma_cm, (CharDevice{"/dev/infiniband/rdma_cm", 10, 121, 0666, 0, 0, false}));
}

/// Dynamic minors of misc devices are above 255 since Linux 6.7.
TEST(CharDevices, numbers_above_255_are_numbers) {
  const ReadDevices read(kVerbs0 +
                         "t /sys/class/infiniband_verbs/uverbs0/dev 511:1048575\n"
                         "c /dev/infiniband/uverbs0 511:1048575 0666 0:0\n"
                         "t /sys/class/misc/rdma_cm/dev 10:262\n");
  EXPECT_THAT(read.devices.at("mlx5_9").uverbs,
              ElementsAre(CharDevice{"/dev/infiniband/uverbs0", 511, 1048575, 0666, 0, 0, true}));
  EXPECT_EQ(read.rdma_cm->minor, 262U);
}

TEST(CharDevices, a_stale_node_of_another_number_is_reported_not_trusted) {
  const ReadDevices read(kVerbs0 +
                         "t /sys/class/infiniband_verbs/uverbs0/dev 231:192\n"
                         "c /dev/infiniband/uverbs0 231:200 0600 7:7\n");
  EXPECT_THAT(read.devices.at("mlx5_9").uverbs,
              ElementsAre(CharDevice{"/dev/infiniband/uverbs0", 231, 192, 0666, 0, 0, false}));
  ASSERT_THAT(read.problems, SizeIs(1));
  EXPECT_EQ(read.problems[0].path, "/dev/infiniband/uverbs0");
}

TEST(CharDevices, a_block_device_in_the_place_of_one_is_reported) {
  const ReadDevices read(kVerbs0 +
                         "t /sys/class/infiniband_verbs/uverbs0/dev 231:192\n"
                         "b /dev/infiniband/uverbs0 231:192 0660 0:6\n");
  EXPECT_FALSE(read.devices.at("mlx5_9").uverbs.at(0).on_host);
  EXPECT_THAT(read.problems, SizeIs(1));
}

TEST(CharDevices, the_node_gives_the_number_where_sysfs_has_none) {
  const ReadDevices read(
      kVerbs0 +
      "c /dev/infiniband/uverbs0 231:192 0666 0:0\nc /dev/infiniband/rdma_cm 10:58 0666 0:0\n");
  EXPECT_EQ(read.devices.at("mlx5_9").uverbs.at(0).minor, 192U);
  EXPECT_TRUE(read.devices.at("mlx5_9").uverbs.at(0).on_host);
  EXPECT_EQ(read.rdma_cm->minor, 58U);
}

TEST(CharDevices, without_any_number_there_is_no_device) {
  const ReadDevices read(kVerbs0);
  EXPECT_THAT(read.devices, IsEmpty());
  EXPECT_EQ(read.rdma_cm, std::nullopt);
}

TEST(CharDevices, numbers_that_are_none_are_reported) {
  for (const auto* dev :
       {"231", "231:", ":192", "231:192:0", "x:y", "5000:1", "231:99999999", "-1:0"}) {
    const ReadDevices read(kVerbs0 + "t /sys/class/infiniband_verbs/uverbs0/dev " + dev + "\n");
    EXPECT_THAT(read.devices, IsEmpty()) << dev;
    EXPECT_THAT(read.problems, SizeIs(1)) << dev;
  }
}

TEST(CharDevices, umads_are_in_the_order_of_ports) {
  const ReadDevices read(
      "t /sys/class/infiniband_mad/umad4/dev 231:4\nt /sys/class/infiniband_mad/umad4/ibdev "
      "mlx4_0\n"
      "t /sys/class/infiniband_mad/umad4/port 2\n"
      "t /sys/class/infiniband_mad/umad10/dev 231:10\nt /sys/class/infiniband_mad/umad10/ibdev "
      "mlx4_0\n"
      "t /sys/class/infiniband_mad/umad10/port 1\n"
      "t /sys/class/infiniband_mad/issm10/dev 231:74\nt /sys/class/infiniband_mad/issm10/ibdev "
      "mlx4_0\n"
      "t /sys/class/infiniband_mad/issm10/port 1\n");
  const auto& devices = read.devices.at("mlx4_0");
  ASSERT_THAT(devices.umads, SizeIs(2));
  EXPECT_EQ(devices.umads[0].path, "/dev/infiniband/umad10");
  EXPECT_EQ(devices.umads[1].path, "/dev/infiniband/umad4");
  EXPECT_THAT(devices.issms, SizeIs(1));
}

/// A function that a vfio driver holds, of this group.
std::string vfio(const std::string& address, const std::string& group) {
  return test::SysfsTree()
      .pci(address, "vfio-pci")
      .link("iommu_group", "/sys/kernel/iommu_groups/" + group)
      .entries();
}

TEST(CharDevices, of_vfio_are_the_container_and_each_group_once) {
  const auto node = test::node_of(vfio("0000:15:01.0", "26") + vfio("0000:15:01.1", "26") +
                                  vfio("0000:15:01.2", "9") + "d /sys/kernel/iommu_groups/26\n" +
                                  "d /sys/kernel/iommu_groups/9\n" +
                                  "t /sys/class/misc/vfio/dev 10:196\n"
                                  "t /sys/class/vfio/26/dev 511:0\n"
                                  "t /sys/class/vfio/9/dev 511:300\n"
                                  "t /sys/class/vfio/8/dev 511:2\n"
                                  "c /dev/vfio/26 511:0 0660 0:36\n");
  EXPECT_THAT(
      node.function_devices,
      ElementsAre(
          FunctionDevice{{"/dev/vfio/vfio", 10, 196, 0666, 0, 0, false}, "/sys/class/misc/vfio"},
          FunctionDevice{{"/dev/vfio/26", 511, 0, 0660, 0, 36, true}, "/sys/class/vfio/26"},
          FunctionDevice{{"/dev/vfio/9", 511, 300, 0600, 0, 0, false}, "/sys/class/vfio/9"}));
}

TEST(CharDevices, of_vfio_without_an_iommu_have_another_name) {
  const auto node = test::node_of(vfio("0000:15:01.0", "26") +
                                  "t /sys/kernel/iommu_groups/26/name vfio-noiommu\n"
                                  "t /sys/class/vfio/noiommu-26/dev 511:3\n");
  ASSERT_THAT(node.function_devices, SizeIs(1));
  EXPECT_EQ(node.function_devices[0].device.path, "/dev/vfio/noiommu-26");
}

TEST(Gdrdrv, has_the_number_that_its_module_has_now) {
  const auto gdrdrv_of = [](const std::string& text) {
    const auto host = test::host_of(text);
    Reader reader(*host);
    return read_gdrdrv(reader);
  };
  EXPECT_EQ(gdrdrv_of("t /proc/devices 240 gdrdrv\n"),
            (CharDevice{"/dev/gdrdrv", 240, 0, 0666, 0, 0, false}));
  EXPECT_EQ(gdrdrv_of("t /proc/devices 240 gdrdrv\nc /dev/gdrdrv 239:0 0600 0:0\n"),
            (CharDevice{"/dev/gdrdrv", 240, 0, 0666, 0, 0, false}))
      << "a stale node";
  EXPECT_EQ(gdrdrv_of("t /proc/devices 240 gdrdrv\nc /dev/gdrdrv 240:0 0600 0:0\n")->on_host, true);
  for (const auto* line :
       {"240 gdrdrvs", "240", "gdrdrv 240", "-1 gdrdrv", "4096 gdrdrv", "x gdrdrv"}) {
    EXPECT_EQ(gdrdrv_of("t /proc/devices " + std::string(line) + "\n"), std::nullopt) << line;
  }
  EXPECT_EQ(gdrdrv_of(""), std::nullopt);
}

}  // namespace
}  // namespace railhead::node
