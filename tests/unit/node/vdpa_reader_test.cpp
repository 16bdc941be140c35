// SPDX-License-Identifier: Apache-2.0
#include "node/vdpa_reader.h"

#include <gtest/gtest.h>

#include "snapshot/recording_host.h"
#include "snapshot/snapshot.h"
#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using test::node_of;

constexpr const char* kFunction = "pci0000:15/0000:15:01.0";

std::string function() {
  return test::SysfsTree().pci(kFunction).entries();
}

/// A vDPA device in its folder, with its link in the bus folder.
std::string vdpa(const std::string& name, const std::string& driver,
                 const std::string& chain = kFunction) {
  const auto path = "/sys/devices/" + chain + "/" + name;
  std::string entries = "d " + path + "\nl /sys/bus/vdpa/devices/" + name +
                        " -> ../../../devices/" + chain + "/" + name + "\n";
  if (!driver.empty()) entries += "l " + path + "/driver -> /sys/bus/vdpa/drivers/" + driver + "\n";
  return entries;
}

std::string vhost_vdpa(const std::string& name, unsigned number) {
  return vdpa(name, "vhost_vdpa") + "d /sys/devices/" + std::string(kFunction) + "/" + name +
         "/vhost-vdpa-" + std::to_string(number) + "\n";
}

std::vector<VdpaDevice> devices_of(const Node& node) {
  EXPECT_TRUE(node.problems.empty());
  return node.find_pci(PciAddress::parse("0000:15:01.0").value())->vdpa;
}

TEST(VdpaReader, a_device_that_vhost_vdpa_holds_knows_the_number_of_its_node) {
  const auto devices = devices_of(node_of(function() + vhost_vdpa("vdpa2", 11)));
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0], (VdpaDevice{"vdpa2", "vhost_vdpa", 11U}));
  EXPECT_EQ(devices[0].type(), "vhost");
}

TEST(VdpaReader, the_numbers_of_that_node_stand_below_the_device) {
  const auto node = node_of(function() + vhost_vdpa("vdpa2", 11) + "t /sys/devices/" + kFunction +
                            "/vdpa2/vhost-vdpa-11/dev 510:11\n");
  ASSERT_EQ(node.function_devices.size(), 1U);
  EXPECT_EQ(node.function_devices[0].device,
            (CharDevice{"/dev/vhost-vdpa-11", 510, 11, 0600, 0, 0, false}));
}

TEST(VdpaReader, one_that_virtio_vdpa_holds_has_none) {
  const auto devices = devices_of(node_of(function() + vdpa("vdpa0", "virtio_vdpa")));
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0], (VdpaDevice{"vdpa0", "virtio_vdpa", {}}));
  EXPECT_EQ(devices[0].type(), "virtio");
}

TEST(VdpaReader, one_that_no_driver_holds_is_of_no_type) {
  const auto devices = devices_of(node_of(function() + vdpa("vdpa0", "")));
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0], (VdpaDevice{"vdpa0", {}, {}}));
  EXPECT_EQ(devices[0].type(), "");
}

TEST(VdpaReader, a_vhost_device_whose_node_is_not_there_yet_is_no_problem) {
  const auto devices = devices_of(node_of(function() + vdpa("vdpa0", "vhost_vdpa")));
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_FALSE(devices[0].vhost_number);
}

TEST(VdpaReader, without_the_bus_there_are_none_and_nothing_failed) {
  EXPECT_TRUE(devices_of(node_of(function())).empty());
  EXPECT_TRUE(devices_of(node_of(function() + "d /sys/bus/vdpa/devices\n")).empty());
}

TEST(VdpaReader, several_of_one_function_are_sorted_by_name) {
  const auto devices =
      devices_of(node_of(function() + vdpa("vdpa1", "virtio_vdpa") + vhost_vdpa("front", 0)));
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].name, "front");
  EXPECT_EQ(devices[1].name, "vdpa1");
}

TEST(VdpaReader, passes_an_auxiliary_device_but_no_scalable_function) {
  const std::string chain(kFunction);
  EXPECT_EQ(
      devices_of(node_of(function() + vdpa("vdpa0", "vhost_vdpa", chain + "/pds_core.vDPA.2")))
          .size(),
      1U);
  EXPECT_TRUE(
      devices_of(node_of(function() + vdpa("vdpa0", "vhost_vdpa", chain + "/mlx5_core.sf.4")))
          .empty());
}

TEST(VdpaReader, devices_that_software_alone_makes_are_nobodys) {
  EXPECT_TRUE(devices_of(node_of(function() + vdpa("vdpa0", "vhost_vdpa", "vdpasim_net"))).empty());
}

TEST(VdpaReader, a_link_that_cannot_be_read_is_a_problem) {
  const auto node = node_of(function() + "x /sys/bus/vdpa/devices/vdpa0\n");
  EXPECT_TRUE(node.pci.at(0).vdpa.empty());
  const auto refused = node_of(function() + "e /sys/bus/vdpa/devices EACCES\n");
  EXPECT_EQ(refused.problems.size(), 1U);
}

TEST(VdpaReader, a_snapshot_keeps_them) {
  const auto host = test::host_of(function() + vhost_vdpa("vdpa2", 11) + vdpa("vdpa3", ""));
  snapshot::RecordingHost recorder(*host);
  const auto node = read_node(recorder);
  ASSERT_EQ(devices_of(node).size(), 2U);
  const auto again = snapshot::SnapshotHost::parse(snapshot::format_snapshot(recorder.recorded()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(read_node(**again), node);
}

}  // namespace
}  // namespace railhead::node
