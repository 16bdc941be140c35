// SPDX-License-Identifier: Apache-2.0
#include "node/nic_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/unread.h"
#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using test::node_of;
using test::SysfsTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of_nics(const Node& node) {
  std::vector<std::string> found;
  for (const auto& nic : node.nics) found.push_back(nic.name);
  return found;
}

TEST(NicReader, an_rdma_device_has_its_functions_position) {
  const auto node = SysfsTree().pci("0000:18:00.0").text("numa_node", "1").rdma("mlx5_7").read();
  ASSERT_EQ(node.nics.size(), 1U);
  const auto& nic = node.nics[0];
  EXPECT_EQ(nic.name, "mlx5_7");
  EXPECT_TRUE(nic.registered);
  EXPECT_EQ(nic.pci->str(), "0000:18:00.0");
  EXPECT_EQ(nic.numa_node, 1);
  EXPECT_EQ(nic.driver, "mlx5_core");
  EXPECT_EQ(nic.node_type, "CA");
}

TEST(NicReader, any_name_will_do_and_order_is_by_pci_address) {
  SysfsTree tree;
  tree.pci("0000:19:00.0").rdma("a").pci("0000:18:00.0").rdma("bnxt_re0");
  const auto node = tree.pci("0000:1a:00.0").rdma("rocep26s0").read();
  EXPECT_THAT(names_of_nics(node), ElementsAre("bnxt_re0", "a", "rocep26s0"));
}

TEST(NicReader, a_device_of_another_class_that_carries_rdma_is_in_the_tree) {
  const auto node =
      SysfsTree().pci("0000:05:00.0", "odd", "1234:5678", "128000").rdma("odd0").read();
  ASSERT_EQ(node.nics.size(), 1U);
  EXPECT_EQ(node.nics[0].driver, "odd");
  EXPECT_EQ(node.pci.size(), 1U);
}

TEST(NicReader, a_copied_tree_without_class_links_is_asked_through_device) {
  const auto node = node_of(
      "t /sys/class/infiniband/mlx5_0/node_type 1: CA\n"
      "l /sys/class/infiniband/mlx5_0/device -> ../../../devices/pci0000:15/0000:18:00.0\n" +
      SysfsTree().pci("0000:18:00.0").entries() +
      "t /sys/class/infiniband/mlx5_1/node_type 1: CA\n"
      "t /sys/class/infiniband/mlx5_1/device/uevent PCI_SLOT_NAME=0000:19:00.0\n");
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(node.nics[0].pci->str(), "0000:18:00.0");
  EXPECT_EQ(node.nics[1].pci->str(), "0000:19:00.0");
}

TEST(NicReader, a_subfunction_has_its_cards_position_and_its_own_netdevs) {
  SysfsTree tree;
  tree.pci("0000:18:00.0").rdma("mlx5_0").netdev("ens1");
  const auto node = tree.below("mlx5_core.sf.2").rdma("mlx5_1").netdev("ens1sf2").read();
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(node.nics[1].pci, node.nics[0].pci);
  EXPECT_THAT(node.nics[0].netdevs, ElementsAre("ens1"));
  EXPECT_THAT(node.nics[1].netdevs, ElementsAre("ens1sf2"));
  EXPECT_EQ(node.nics[0].sub_function, std::nullopt);
  EXPECT_EQ(node.nics[1].sub_function, "mlx5_core.sf.2");
}

/// A card whose second function has a netdev and no RDMA device; `master` is that netdev's.
Node card_with_bond(const std::string& master) {
  SysfsTree tree;
  tree.pci("0000:18:00.0").rdma("mlx5_bond_0").netdev("ens1f0", "bond0");
  return tree.pci("0000:18:00.1").netdev("ens1f1", master).read();
}

TEST(NicReader, second_function_of_a_bond_has_no_rdma_device_by_design) {
  EXPECT_THAT(names_of_nics(card_with_bond("bond0")), ElementsAre("mlx5_bond_0"));
  EXPECT_THAT(names_of_nics(card_with_bond("bond1")), ElementsAre("mlx5_bond_0", "0000:18:00.1"));
}

TEST(NicReader, function_with_sub_functions_only_is_still_missed) {
  const auto node = SysfsTree().pci("0000:18:00.0").below("mlx5_core.sf.2").rdma("mlx5_1").read();
  EXPECT_THAT(names_of_nics(node), ElementsAre("0000:18:00.0", "mlx5_1"));
}

TEST(NicReader, a_subfunction_knows_its_auxiliary_device_and_its_number) {
  SysfsTree tree;
  tree.pci("0000:18:00.0").rdma("mlx5_0");
  const auto node = tree.below("mlx5_core.sf.2").text("sfnum", "88").rdma("mlx5_1").read();
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(node.nics[0].sub_function, std::nullopt);
  EXPECT_EQ(node.nics[1].sub_function, "mlx5_core.sf.2");
  EXPECT_EQ(node.nics[1].sf_number, 88U);
}

TEST(NicReader, a_card_with_one_function_for_two_ports_has_both_netdevs) {
  const auto node =
      SysfsTree().pci("0000:18:00.0").rdma("mlx4_0").netdev("ib0").netdev("ib1").read();
  EXPECT_THAT(node.nics.at(0).netdevs, ElementsAre("ib0", "ib1"));
}

TEST(NicReader, functions_without_an_rdma_device_are_shown_by_address) {
  SysfsTree tree;
  tree.pci("0000:18:00.0", "vfio-pci", "15B3:1021", "20700");
  tree.pci("0000:19:00.0").netdev("ens1").pci("0000:1a:00.0", "");
  tree.pci("0000:1b:00.0", "ixgbe", "8086:1563").pci("0000:1c:00.0", "vfio-pci", "15B3:101D");
  const auto node = tree.read();
  ASSERT_THAT(names_of_nics(node), ElementsAre("0000:18:00.0", "0000:19:00.0", "0000:1a:00.0"));
  EXPECT_FALSE(node.nics[0].registered);
  EXPECT_THAT(node.nics[0].ports, IsEmpty());
  EXPECT_THAT(node.nics[1].netdevs, ElementsAre("ens1"));
}

TEST(NicReader, an_efa_without_a_driver_is_missed) {
  SysfsTree tree;
  tree.pci("0000:18:00.0", "", "1D0F:EFA1").pci("0000:19:00.0", "vfio-pci", "1D0F:EFA1");
  tree.pci("0000:1a:00.0", "efa", "1D0F:EFA1").pci("0000:1b:00.0", "ena", "1D0F:EC20");
  EXPECT_THAT(names_of_nics(tree.read()), ElementsAre("0000:18:00.0", "0000:1a:00.0"));
}

TEST(NicReader, virtual_functions_are_missed_only_under_an_rdma_driver) {
  SysfsTree tree;
  tree.pci("0000:18:00.1", "", "15B3:101E").vf_of("0000:18:00.0");
  tree.pci("0000:18:00.2", "vfio-pci", "15B3:101E").vf_of("0000:18:00.0");
  tree.pci("0000:18:00.3", "mlx5_core", "15B3:101E").vf_of("0000:18:00.0");
  EXPECT_THAT(names_of_nics(tree.read()), ElementsAre("0000:18:00.3"));
}

TEST(NicReader, soft_devices_come_last_by_name_and_have_no_position) {
  SysfsTree tree;
  tree.soft_rdma("siw1", "eth0").soft_rdma("a_rxe", "eth0").netdev("eth0");
  const auto node = tree.pci("0000:18:00.0").rdma("mlx5_0").read();
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "a_rxe", "siw1"));
  EXPECT_EQ(node.nics[1].pci, std::nullopt);
  EXPECT_EQ(node.nics[1].parent, "eth0");
  EXPECT_THAT(node.nics[1].netdevs, ElementsAre("eth0"));
  EXPECT_NE(node.find_netdev("eth0"), nullptr);
}

TEST(NicReader, the_netdev_below_a_soft_device_gives_it_no_position) {
  const auto node = SysfsTree().pci("0000:18:00.0").netdev("ens1").soft_rdma("rxe0", "ens1").read();
  ASSERT_EQ(node.nics.size(), 2U);
  EXPECT_EQ(node.nics[1].pci, std::nullopt);
  EXPECT_EQ(node.nics[1].numa_node, std::nullopt);
}

TEST(NicReader, a_link_that_leads_nowhere_is_a_device_that_is_not_seen) {
  const auto node = node_of(
      "l /sys/class/infiniband/ib0 -> ../../devices/pci0000:15/0000:18:00.0/infiniband/ib0\n");
  EXPECT_THAT(node.nics, IsEmpty());
  ASSERT_EQ(node.problems.size(), 1U);
  EXPECT_EQ(node.problems[0].path, "/sys/class/infiniband/ib0");
  EXPECT_EQ(unread_nic(node), &node.problems[0]);
}

TEST(NicReader, a_function_whose_link_leads_nowhere_is_not_seen) {
  const auto node =
      node_of("l /sys/bus/pci/devices/0000:18:00.0 -> ../../../devices/pci0000:15/0000:18:00.0\n");
  ASSERT_EQ(node.problems.size(), 1U);
  EXPECT_EQ(node.problems[0].path, "/sys/bus/pci/devices/0000:18:00.0");
  EXPECT_EQ(unread_nic(node), &node.problems[0]);
}

TEST(NicReader, zero_guids_are_values_and_broken_ones_are_problems) {
  const std::string device = "infiniband/mlx5_0";
  const auto node = SysfsTree()
                        .pci("0000:18:00.0")
                        .rdma("mlx5_0")
                        .text(device + "/node_guid", "0000:0000:0000:0000")
                        .text(device + "/sys_image_guid", "zero")
                        .text(device + "/board_id", "HPE Ethernet 100Gb 2-port")
                        .read();
  EXPECT_EQ(node.nics.at(0).node_guid, "0000:0000:0000:0000");
  EXPECT_EQ(node.nics.at(0).sys_image_guid, std::nullopt);
  EXPECT_EQ(node.nics.at(0).board_id, "HPE Ethernet 100Gb 2-port");
  EXPECT_EQ(node.problems.size(), 1U);
}

SysfsTree with_netns_mode(const std::string& mode) {
  return SysfsTree().text("/sys/module/ib_core/parameters/netns_mode", mode);
}

/// A function whose RDMA device mlx5_7 is in another network namespace: its nodes stay.
Node moved_device(const std::string& mode) {
  auto tree = with_netns_mode(mode).pci("0000:19:00.0").rdma("mlx5_0");
  return tree.pci("0000:18:00.0").verbs("uverbs3", "mlx5_7", "231:195").read();
}

TEST(NicReader, in_exclusive_mode_a_moved_device_is_known_by_its_nodes) {
  const auto node = moved_device("N");
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_7", "mlx5_0"));
  const auto& nic = node.nics[0];
  EXPECT_TRUE(nic.registered);
  EXPECT_TRUE(nic.elsewhere);
  EXPECT_EQ(nic.pci->str(), "0000:18:00.0");
  EXPECT_EQ(nic.driver, "mlx5_core");
  ASSERT_EQ(nic.uverbs.size(), 1U);
  EXPECT_EQ(nic.uverbs[0].path, "/dev/infiniband/uverbs3");
  EXPECT_EQ(nic.uverbs[0].minor, 195U);
  EXPECT_FALSE(node.nics[1].elsewhere);
}

TEST(NicReader, in_shared_mode_nodes_without_a_device_are_on_their_way_out) {
  const auto node = moved_device("Y");
  ASSERT_THAT(names_of_nics(node), ElementsAre("0000:18:00.0", "mlx5_0"));
  EXPECT_FALSE(node.nics[0].registered);
}

TEST(NicReader, a_moved_subfunction_keeps_its_number) {
  auto tree = with_netns_mode("N").pci("0000:19:00.0").rdma("mlx5_0");
  tree.below("mlx5_core.sf.4").text("sfnum", "88").verbs("uverbs5", "mlx5_9", "231:197");
  const auto node = tree.read();
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "mlx5_9"));
  EXPECT_EQ(node.nics[1].sub_function, "mlx5_core.sf.4");
  EXPECT_EQ(node.nics[1].sf_number, 88U);
}

}  // namespace
}  // namespace railhead::node
