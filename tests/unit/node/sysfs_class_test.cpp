// SPDX-License-Identifier: Apache-2.0
#include "node/sysfs_class.h"

#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

ClassEntry first_entry(const std::string& entries) {
  const auto host = test::host_of(entries);
  Reader reader(*host);
  return class_entries(reader, "/sys/class/net").at(0);
}

TEST(SysfsClass, the_link_tells_the_folder_the_function_and_what_carries_it) {
  const auto entry =
      first_entry("l /sys/class/net/ens1 -> ../../devices/pci0000:15/0000:18:00.0/net/ens1\n");
  EXPECT_EQ(entry.name, "ens1");
  EXPECT_EQ(entry.path, "/sys/devices/pci0000:15/0000:18:00.0/net/ens1");
  EXPECT_EQ(entry.parent, "/sys/devices/pci0000:15/0000:18:00.0");
  EXPECT_EQ(entry.pci->str(), "0000:18:00.0");
}

TEST(SysfsClass, virtual_devices_have_no_function) {
  const auto entry = first_entry("l /sys/class/net/lo -> ../../devices/virtual/net/lo\n");
  EXPECT_EQ(entry.pci, std::nullopt);
}

TEST(SysfsClass, a_folder_in_place_of_the_link_is_asked_for_its_device) {
  const auto entry = first_entry(
      "t /sys/class/net/ens1/operstate up\n"
      "l /sys/class/net/ens1/device -> ../../../devices/pci0000:15/0000:18:00.0\n");
  EXPECT_EQ(entry.path, "/sys/class/net/ens1");
  EXPECT_EQ(entry.parent, "/sys/devices/pci0000:15/0000:18:00.0");
}

TEST(SysfsClass, devices_of_hyper_v_have_no_function) {
  const auto entry = first_entry(
      "l /sys/class/net/eth0 -> ../../devices/LNXSYSTM:00/VMBUS:01/000d3a8e-0001/net/eth0\n");
  EXPECT_EQ(entry.pci, std::nullopt);
}

TEST(SysfsClass, the_last_address_of_a_path_is_the_nearest_function) {
  EXPECT_EQ(last_pci_address("/sys/devices/pci0000:15/0000:18:00.0/mlx5_core.sf.2")->str(),
            "0000:18:00.0");
  EXPECT_EQ(last_pci_address(""), std::nullopt);
  EXPECT_EQ(last_pci_address("///"), std::nullopt);
  EXPECT_EQ(parent_path("/a/b"), "/a");
  EXPECT_EQ(parent_path("a"), "");
}

}  // namespace
}  // namespace railhead::node
