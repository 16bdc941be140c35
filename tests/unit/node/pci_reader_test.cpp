// SPDX-License-Identifier: Apache-2.0
#include "node/pci_reader.h"

#include <gtest/gtest.h>

#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using test::node_of;
using test::SysfsTree;

PciAddress address(std::string_view text) {
  return PciAddress::parse(text).value();
}

std::vector<std::string> chain(const PciPath& path) {
  std::vector<std::string> bridges;
  for (const auto& bridge : path.bridges) bridges.push_back(bridge.str());
  return bridges;
}

TEST(PciPath, a_path_names_the_host_bridge_and_the_bridges) {
  const auto path =
      parse_pci_path("/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:18:00.0");
  EXPECT_EQ(path.root, "pci0000:15");
  EXPECT_EQ(chain(path), (std::vector<std::string>{"0000:15:01.0", "0000:16:00.0"}));
}

TEST(PciPath, a_function_on_the_root_bus_has_no_bridge) {
  const auto path = parse_pci_path("/sys/devices/pci0000:00/0000:00:05.0");
  EXPECT_EQ(path.root, "pci0000:00");
  EXPECT_TRUE(path.bridges.empty());
}

TEST(PciPath, the_last_host_bridge_counts_below_intel_vmd) {
  const auto path = parse_pci_path(
      "/sys/devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0/10000:e1:00.0");
  EXPECT_EQ(path.root, "pci10000:e0");
  EXPECT_EQ(chain(path), std::vector<std::string>{"10000:e0:06.0"});
}

TEST(PciPath, folders_of_hyper_v_and_of_device_trees_are_not_bridges) {
  const auto hyper_v = parse_pci_path(
      "/sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:01/"
      "47505500-0001-0000-3130-444531303244/pci0001:00/0001:00:00.0");
  EXPECT_EQ(hyper_v.root, "pci0001:00");
  EXPECT_TRUE(hyper_v.bridges.empty());
  const auto arm =
      parse_pci_path("/sys/devices/platform/40000000.pcie/pci0002:00/0002:00:00.0/0002:01:00.0");
  EXPECT_EQ(arm.root, "pci0002:00");
  EXPECT_EQ(chain(arm), std::vector<std::string>{"0002:00:00.0"});
}

TEST(PciPath, without_a_host_bridge_or_a_function_nothing_is_known) {
  for (const auto* path :
       {"", "/sys/bus/pci/devices/0000:18:00.0", "/sys/devices/pci0000:00",
        "/sys/devices/pci0000:00/0000:00:01.0/net", "/sys/devices/virtual/net/lo"}) {
    EXPECT_EQ(parse_pci_path(path).root, "") << path;
    EXPECT_TRUE(parse_pci_path(path).bridges.empty()) << path;
  }
}

TEST(PciReader, only_functions_of_interest_and_bridges_above_them_are_kept) {
  SysfsTree tree;
  tree.pci("pci0000:00/0000:00:01.0", "pcieport", "8086:352A", "60400");
  tree.pci("pci0000:00/0000:00:02.0", "pcieport", "8086:352A", "60400");
  tree.pci("pci0000:00/0000:00:01.0/0000:01:00.0", "mlx5_core", "15B3:1021", "20700");
  tree.pci("pci0000:00/0000:00:02.0/0000:02:00.0", "nvme", "1344:51C3", "10802");
  tree.pci("pci0000:00/0000:00:1f.0", "ast", "1A03:2000", "30000");
  const auto node = tree.read();
  ASSERT_EQ(node.pci.size(), 2U);
  EXPECT_EQ(node.pci[0].address, address("00:01.0"));
  EXPECT_TRUE(node.pci[0].is_bridge());
  EXPECT_EQ(node.pci[1].address, address("01:00.0"));
  EXPECT_EQ(node.pci[1].bridges, std::vector<PciAddress>{address("00:01.0")});
  EXPECT_EQ(node.pci[1].class_code, 0x020700U);
  EXPECT_EQ(node.pci[1].vendor, 0x15b3);
  EXPECT_EQ(node.pci[1].device, 0x1021);
  EXPECT_EQ(node.pci[1].driver, "mlx5_core");
}

TEST(PciReader, switches_of_nvlink_and_the_data_direct_function_are_kept) {
  SysfsTree tree;
  tree.pci("0000:01:00.0", "nvidia-nvswitch", "10DE:22A3", "68000");
  tree.pci("0000:02:00.0", "", "15B3:2100", "80100").pci("0000:03:00.0", "", "8086:0001", "68000");
  const auto node = tree.read();
  EXPECT_EQ(node.pci.size(), 2U);
}

TEST(PciReader, single_attributes_do_where_uevent_is_absent) {
  const auto node = node_of(
      "l /sys/bus/pci/devices/0000:18:00.0 -> ../../../devices/pci0000:15/0000:18:00.0\n"
      "t /sys/devices/pci0000:15/0000:18:00.0/class 0x020000\n"
      "t /sys/devices/pci0000:15/0000:18:00.0/vendor 0x15b3\n"
      "t /sys/devices/pci0000:15/0000:18:00.0/device 0x1021\n"
      "t /sys/devices/pci0000:15/0000:18:00.0/subsystem_vendor 0x15b3\n"
      "t /sys/devices/pci0000:15/0000:18:00.0/subsystem_device 0x0041\n"
      "l /sys/devices/pci0000:15/0000:18:00.0/driver -> ../../../bus/pci/drivers/mlx5_core\n");
  ASSERT_EQ(node.pci.size(), 1U);
  EXPECT_EQ(node.pci[0].class_code, 0x020000U);
  EXPECT_EQ(node.pci[0].subsystem_device, 0x0041);
  EXPECT_EQ(node.pci[0].driver, "mlx5_core");
}

TEST(PciReader, single_attributes_do_for_a_bridge_too) {
  const auto node = node_of(
      "l /sys/bus/pci/devices/0000:15:01.0 -> ../../../devices/pci0000:15/0000:15:01.0\n"
      "l /sys/bus/pci/devices/0000:16:00.0 -> "
      "../../../devices/pci0000:15/0000:15:01.0/0000:16:00.0\n"
      "t /sys/devices/pci0000:15/0000:15:01.0/class 0x060400\n"
      "t /sys/devices/pci0000:15/0000:15:01.0/vendor 0x15b3\n"
      "t /sys/devices/pci0000:15/0000:15:01.0/device 0x197c\n"
      "t /sys/devices/pci0000:15/0000:15:01.0/subsystem_vendor 0x15b3\n"
      "t /sys/devices/pci0000:15/0000:15:01.0/subsystem_device 0x0002\n"
      "t /sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/class 0x020000\n");
  ASSERT_EQ(node.pci.size(), 2U);
  EXPECT_EQ(node.pci[0].device, 0x197c);
  EXPECT_EQ(node.pci[0].subsystem_vendor, 0x15b3);
  EXPECT_EQ(node.pci[0].subsystem_device, 0x0002);
}

TEST(PciReader, of_a_bridge_it_is_read_what_its_link_can_be) {
  SysfsTree tree;
  tree.pci("pci0000:15/0000:15:01.0", "pcieport", "8086:352A", "60400");
  tree.text("max_link_speed", "16.0 GT/s PCIe").text("max_link_width", "8");
  tree.text("current_link_speed", "2.5 GT/s PCIe").text("current_link_width", "8");
  tree.pci("pci0000:15/0000:15:01.0/0000:16:00.0");
  const auto node = tree.read();
  ASSERT_EQ(node.pci.size(), 2U);
  EXPECT_EQ(node.pci[0].max_link_gts, 16.0);
  EXPECT_EQ(node.pci[0].max_link_width, 8U);
  EXPECT_EQ(node.pci[0].link_gts, std::nullopt);
  EXPECT_EQ(node.pci[0].link_width, std::nullopt);
}

TEST(PciReader, a_plain_folder_in_place_of_the_link_has_no_known_path) {
  const auto node = node_of(
      "t /sys/bus/pci/devices/0000:18:00.0/class 0x020700\n"
      "t /sys/bus/pci/devices/0000:18:00.0/vendor 0x15b3\n"
      "t /sys/bus/pci/devices/0000:18:00.0/numa_node 1\n");
  ASSERT_EQ(node.pci.size(), 1U);
  EXPECT_EQ(node.pci[0].root, "");
  EXPECT_EQ(node.pci[0].numa_node, 1);
  EXPECT_TRUE(node.problems.empty());
}

TEST(PciReader, a_function_that_vanishes_between_list_and_read_is_not_there) {
  const auto node = node_of("x /sys/bus/pci/devices/0000:19:00.0\n");
  EXPECT_TRUE(node.pci.empty());
  EXPECT_TRUE(node.problems.empty());
}

TEST(PciReader, a_name_or_a_link_that_is_no_address_is_a_problem) {
  const auto node = node_of(
      "d /sys/bus/pci/devices/eth0\n"
      "t /sys/devices/pci0000:00/0000:00:02.0/class 0x020000\n"
      "l /sys/bus/pci/devices/0000:00:01.0 -> ../../../devices/pci0000:00/0000:00:02.0\n");
  EXPECT_EQ(node.problems.size(), 2U);
}

TEST(PciReader, a_uevent_of_garbage_without_a_class_is_a_problem) {
  const auto node = node_of(
      "l /sys/bus/pci/devices/0000:18:00.0 -> ../../../devices/pci0000:15/0000:18:00.0\n" +
      test::file_entry("/sys/devices/pci0000:15/0000:18:00.0/uevent", std::string("\0\xff=\n", 4)));
  EXPECT_TRUE(node.pci.empty());
  ASSERT_EQ(node.problems.size(), 1U);
  EXPECT_EQ(node.problems[0].kind, Problem::Kind::malformed);
}

/// A network function with an attribute.
PciDevice network_function(const std::string& name, const std::string& value) {
  return SysfsTree().pci("0000:18:00.0").text(name, value).read().pci.at(0);
}

TEST(PciReader, link_speed_and_width_are_numbers_or_unknown) {
  EXPECT_EQ(network_function("current_link_speed", "32.0 GT/s PCIe").link_gts, 32.0);
  EXPECT_EQ(network_function("current_link_speed", "2.5 GT/s").link_gts, 2.5);
  EXPECT_EQ(network_function("max_link_speed", "16 GT/s").max_link_gts, 16.0);
  for (const auto* text : {"Unknown", "Unknown speed", "fast", "-1 GT/s", "1e9 GT/s", "32.0"}) {
    EXPECT_EQ(network_function("current_link_speed", text).link_gts, std::nullopt) << text;
  }
  EXPECT_EQ(network_function("current_link_width", "16").link_width, 16U);
  for (const auto* text : {"0", "63", "255", "wide"}) {
    EXPECT_EQ(network_function("current_link_width", text).link_width, std::nullopt) << text;
  }
}

TEST(PciReader, numa_nodes_that_cannot_be_are_absent) {
  EXPECT_EQ(network_function("numa_node", "1").numa_node, 1);
  EXPECT_EQ(network_function("numa_node", "-1").numa_node, std::nullopt);
  EXPECT_EQ(network_function("numa_node", "99999999").numa_node, std::nullopt);
}

TEST(PciReader, a_virtual_function_knows_its_physical_function) {
  SysfsTree tree;
  tree.pci("0000:18:00.0").text("sriov_totalvfs", "16").text("sriov_numvfs", "1");
  tree.pci("0000:18:00.1", "vfio-pci").vf_of("0000:18:00.0").text("max_link_width", "16");
  const auto node = tree.read();
  ASSERT_EQ(node.pci.size(), 2U);
  EXPECT_EQ(node.pci[0].sriov_totalvfs, 16U);
  EXPECT_EQ(node.pci[0].sriov_numvfs, 1U);
  EXPECT_FALSE(node.pci[0].is_vf());
  EXPECT_EQ(node.pci[1].physfn, address("18:00.0"));
  EXPECT_EQ(node.pci[1].max_link_width, std::nullopt);
}

/// A physical function with four VFs enabled, of which one is not on the bus.
SysfsTree server_with_a_missing_vf() {
  SysfsTree tree;
  tree.pci("0000:18:00.0").text("sriov_totalvfs", "16").text("sriov_numvfs", "4");
  for (const auto* name : {"0000:18:00.2", "0000:18:00.4", "0000:18:00.5"}) {
    tree.pci(name).vf_of("0000:18:00.0");
  }
  return tree;
}

std::vector<std::optional<unsigned>> vf_numbers(const Node& node) {
  std::vector<std::optional<unsigned>> numbers;
  for (const auto& device : node.pci) numbers.push_back(device.vf_number);
  return numbers;
}

TEST(PciReader, links_number_the_vfs_of_which_one_is_missing) {
  auto tree = server_with_a_missing_vf();
  const std::string physical = "/sys/devices/pci0000:15/0000:18:00.0/virtfn";
  for (unsigned i = 0; i < 4; ++i) {  // that of the missing one dangles
    tree.add("l " + physical + std::to_string(i) + " -> ../0000:18:00." + std::to_string(i + 2) +
             "\n");
  }
  EXPECT_EQ(vf_numbers(tree.read()),
            (std::vector<std::optional<unsigned>>{std::nullopt, 0U, 2U, 3U}));
}

TEST(PciReader, without_links_only_vfs_that_are_all_there_have_numbers) {
  auto tree = server_with_a_missing_vf();
  EXPECT_EQ(vf_numbers(tree.read()), std::vector<std::optional<unsigned>>(4));
  tree.pci("0000:18:00.3").vf_of("0000:18:00.0");
  EXPECT_EQ(vf_numbers(tree.read()),
            (std::vector<std::optional<unsigned>>{std::nullopt, 0U, 1U, 2U, 3U}));
}

/// A physical function that says where its two VFs are, behind a bridge, on the second NUMA node.
SysfsTree server_with_numbered_vfs(const std::string& offset, const std::string& stride) {
  const std::string bridge = "pci0000:15/0000:15:01.0/";
  SysfsTree tree;
  tree.pci("pci0000:15/0000:15:01.0", "pcieport", "8086:352A", "60400");
  tree.pci(bridge + "0000:18:00.1").text("sriov_totalvfs", "16").text("sriov_numvfs", "2");
  tree.text("sriov_offset", offset).text("sriov_stride", stride).text("numa_node", "1");
  for (const auto* name : {"0000:18:1f.7", "0000:19:00.1"}) {
    tree.pci(bridge + name, "vfio-pci").vf_of("0000:18:00.1");
  }
  return tree;
}

TEST(PciReader, a_physical_function_says_where_its_vfs_are) {
  const auto node = server_with_numbered_vfs("254", "2").read();
  ASSERT_EQ(node.pci.size(), 4U);
  EXPECT_EQ(node.pci[3].physfn, address("18:00.1"));
  EXPECT_EQ(node.pci[3].vf_number, 1U);
  EXPECT_EQ(node.pci[3].root, "pci0000:15");
  EXPECT_EQ(node.pci[3].bridges, std::vector<PciAddress>{address("15:01.0")});
  EXPECT_EQ(node.pci[3].numa_node, 1);
  EXPECT_EQ(node.pci[3].driver, "vfio-pci");
}

TEST(PciReader, whatever_it_says_of_its_vfs_those_that_are_there_count) {
  const auto expected = server_with_numbered_vfs("254", "2").read().pci;
  for (const auto& [offset, stride] : std::vector<std::pair<std::string, std::string>>{
           {"0", "0"}, {"254", "0"}, {"3", "1"}, {"65535", "65535"}}) {
    const auto node = server_with_numbered_vfs(offset, stride).read();
    EXPECT_EQ(node.pci, expected) << offset << ", " << stride;
    EXPECT_TRUE(node.problems.empty());
  }
  const auto node = server_with_numbered_vfs("many", "2").read();
  EXPECT_EQ(node.pci, expected);
  ASSERT_EQ(node.problems.size(), 1U);
  EXPECT_EQ(node.problems[0].path,
            "/sys/devices/pci0000:15/0000:15:01.0/0000:18:00.1/sriov_offset");
}

TEST(PciReader, a_function_that_vfio_holds_knows_the_node_of_its_group) {
  SysfsTree tree;
  tree.pci("0000:15:01.0", "vfio-pci").link("iommu_group", "/sys/kernel/iommu_groups/26");
  const auto node = tree.add("d /sys/kernel/iommu_groups/26\n").read();
  ASSERT_EQ(node.pci.size(), 1U);
  EXPECT_TRUE(node.pci[0].held_by_vfio());
  EXPECT_EQ(node.pci[0].iommu_group, 26U);
  EXPECT_FALSE(node.pci[0].no_iommu);
  tree.text("/sys/kernel/iommu_groups/26/name", "vfio-noiommu");
  EXPECT_TRUE(tree.read().pci[0].no_iommu);
  tree.add("d /sys/class/vfio/26\n");
  EXPECT_FALSE(tree.read().pci[0].no_iommu) << "the class has the last word";
}

TEST(PciReader, the_class_of_vfio_tells_a_group_without_an_iommu) {
  SysfsTree tree;
  tree.pci("0000:15:01.0", "vfio-pci").link("iommu_group", "/sys/kernel/iommu_groups/26");
  EXPECT_TRUE(tree.add("d /sys/class/vfio/noiommu-26\n").read().pci[0].no_iommu);
}

TEST(PciReader, an_iommu_group_that_is_no_number_is_a_problem) {
  SysfsTree tree;
  tree.pci("0000:15:01.0", "mlx5_vfio_pci").link("iommu_group", "/sys/kernel/x");
  const auto node = tree.read();
  EXPECT_TRUE(node.pci[0].held_by_vfio());
  EXPECT_FALSE(node.pci[0].iommu_group);
  EXPECT_EQ(node.problems.size(), 1U);
}

TEST(PciReader, other_drivers_leave_the_iommu_group_unread) {
  const auto node = SysfsTree().pci("0000:15:01.0").link("iommu_group", "/sys/kernel/x").read();
  EXPECT_FALSE(node.pci[0].held_by_vfio());
  EXPECT_TRUE(node.problems.empty());
}

TEST(PciReader, the_number_that_firmware_gives_is_read_where_there_is_one) {
  EXPECT_EQ(network_function("acpi_index", "101").acpi_index, 101U);
  auto tree = SysfsTree().pci("0000:15:01.0");
  EXPECT_FALSE(tree.read().pci[0].acpi_index);
  tree.add("e /sys/devices/pci0000:15/0000:15:01.0/acpi_index EPERM\n");
  const auto refused = tree.read();
  EXPECT_FALSE(refused.pci[0].acpi_index);
  EXPECT_TRUE(refused.problems.empty());
}

}  // namespace
}  // namespace railhead::node
