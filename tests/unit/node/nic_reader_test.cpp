// SPDX-License-Identifier: Apache-2.0
#include "node/nic_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using test::node_of;
using test::pci_function;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names_of_nics(const Node& node) {
  std::vector<std::string> found;
  for (const auto& nic : node.nics) found.push_back(nic.name);
  return found;
}

/// A ConnectX-7 function with an RDMA device of this name.
std::string rdma_device(const std::string& bdf, const std::string& name) {
  const std::string device = "/sys/devices/pci0000:15/" + bdf;
  return pci_function("pci0000:15/" + bdf, "20700", "15B3:1021", "mlx5_core") + "t " + device +
         "/infiniband/" + name + "/node_type 1: CA\n" + "l " + device + "/infiniband/" + name +
         "/device -> ../../../" + bdf + "\n" + "l /sys/class/infiniband/" + name + " -> ../.." +
         device.substr(4) + "/infiniband/" + name + "\n";
}

TEST(NicReader, an_rdma_device_has_its_functions_position) {
  const auto node = node_of(rdma_device("0000:18:00.0", "mlx5_7") +
                            "t /sys/devices/pci0000:15/0000:18:00.0/numa_node 1\n");
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
  const auto node =
      node_of(rdma_device("0000:19:00.0", "a") + rdma_device("0000:18:00.0", "bnxt_re0") +
              rdma_device("0000:1a:00.0", "rocep26s0"));
  EXPECT_THAT(names_of_nics(node), ElementsAre("bnxt_re0", "a", "rocep26s0"));
}

TEST(NicReader, a_device_of_another_class_that_carries_rdma_is_in_the_tree) {
  const auto node = node_of(
      pci_function("pci0000:00/0000:05:00.0", "128000", "1234:5678", "odd") +
      "t /sys/devices/pci0000:00/0000:05:00.0/infiniband/odd0/node_type 4: RNIC\n"
      "l /sys/class/infiniband/odd0 -> ../../devices/pci0000:00/0000:05:00.0/infiniband/odd0\n");
  ASSERT_EQ(node.nics.size(), 1U);
  EXPECT_EQ(node.nics[0].driver, "odd");
  EXPECT_EQ(node.pci.size(), 1U);
}

TEST(NicReader, a_copied_tree_without_class_links_is_asked_through_device) {
  const auto node = node_of(
      "t /sys/class/infiniband/mlx5_0/node_type 1: CA\n"
      "l /sys/class/infiniband/mlx5_0/device -> ../../../devices/pci0000:15/0000:18:00.0\n" +
      pci_function("pci0000:15/0000:18:00.0", "20700", "15B3:1021", "mlx5_core") +
      "t /sys/class/infiniband/mlx5_1/node_type 1: CA\n" +
      test::file_entry("/sys/class/infiniband/mlx5_1/device/uevent",
                       "PCI_SLOT_NAME=0000:19:00.0\n"));
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(node.nics[0].pci->str(), "0000:18:00.0");
  EXPECT_EQ(node.nics[1].pci->str(), "0000:19:00.0");
}

TEST(NicReader, a_subfunction_has_its_cards_position_and_its_own_netdevs) {
  const std::string pf = "/sys/devices/pci0000:15/0000:18:00.0";
  const auto node =
      node_of(rdma_device("0000:18:00.0", "mlx5_0") + "t " + pf +
              "/mlx5_core.sf.2/infiniband/mlx5_1/node_type 1: CA\n" +
              "l /sys/class/infiniband/mlx5_1 -> "
              "../../devices/pci0000:15/0000:18:00.0/mlx5_core.sf.2/infiniband/mlx5_1\n"
              "l /sys/class/net/ens1 -> ../../devices/pci0000:15/0000:18:00.0/net/ens1\n"
              "l /sys/class/net/ens1sf2 -> "
              "../../devices/pci0000:15/0000:18:00.0/mlx5_core.sf.2/net/ens1sf2\n");
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(node.nics[1].pci, node.nics[0].pci);
  EXPECT_THAT(node.nics[0].netdevs, ElementsAre("ens1"));
  EXPECT_THAT(node.nics[1].netdevs, ElementsAre("ens1sf2"));
  EXPECT_EQ(node.nics[0].sub_function, std::nullopt);
  EXPECT_EQ(node.nics[1].sub_function, "mlx5_core.sf.2");
}

/// A card whose second function has a netdev and no RDMA device; `master` is that netdev's.
std::string card_with_bond(const std::string& master) {
  const std::string net = "../../devices/pci0000:15/0000:18:00.";
  const std::string path = "/sys/devices/pci0000:15/0000:18:00.";
  return rdma_device("0000:18:00.0", "mlx5_bond_0") +
         pci_function("pci0000:15/0000:18:00.1", "20000", "15B3:1021", "mlx5_core") +
         "l /sys/class/net/ens1f0 -> " + net + "0/net/ens1f0\n" + "l /sys/class/net/ens1f1 -> " +
         net + "1/net/ens1f1\n" + "t " + path + "0/net/ens1f0/operstate up\n" + "t " + path +
         "1/net/ens1f1/operstate up\n" + "l " + path +
         "0/net/ens1f0/master -> ../../../../virtual/net/bond0\n" + "l " + path +
         "1/net/ens1f1/master -> ../../../../virtual/net/" + master + "\n";
}

TEST(NicReader, second_function_of_a_bond_has_no_rdma_device_by_design) {
  EXPECT_THAT(names_of_nics(node_of(card_with_bond("bond0"))), ElementsAre("mlx5_bond_0"));
  EXPECT_THAT(names_of_nics(node_of(card_with_bond("bond1"))),
              ElementsAre("mlx5_bond_0", "0000:18:00.1"));
}

TEST(NicReader, function_with_sub_functions_only_is_still_missed) {
  const std::string pf = "/sys/devices/pci0000:15/0000:18:00.0";
  const auto node =
      node_of(pci_function("pci0000:15/0000:18:00.0", "20000", "15B3:1021", "mlx5_core") + "t " +
              pf + "/mlx5_core.sf.2/infiniband/mlx5_1/node_type 1: CA\n" +
              "l /sys/class/infiniband/mlx5_1 -> "
              "../../devices/pci0000:15/0000:18:00.0/mlx5_core.sf.2/infiniband/mlx5_1\n");
  EXPECT_THAT(names_of_nics(node), ElementsAre("0000:18:00.0", "mlx5_1"));
}

TEST(NicReader, a_subfunction_knows_its_auxiliary_device_and_its_number) {
  const std::string pf = "/sys/devices/pci0000:15/0000:18:00.0";
  const auto node =
      node_of(rdma_device("0000:18:00.0", "mlx5_0") + "t " + pf +
              "/mlx5_core.sf.2/sfnum 88\n"
              "t " +
              pf +
              "/mlx5_core.sf.2/infiniband/mlx5_1/node_type 1: CA\n"
              "l /sys/class/infiniband/mlx5_1 -> "
              "../../devices/pci0000:15/0000:18:00.0/mlx5_core.sf.2/infiniband/mlx5_1\n");
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(node.nics[0].sub_function, std::nullopt);
  EXPECT_EQ(node.nics[1].sub_function, "mlx5_core.sf.2");
  EXPECT_EQ(node.nics[1].sf_number, 88U);
}

TEST(NicReader, a_card_with_one_function_for_two_ports_has_both_netdevs) {
  const auto node =
      node_of(rdma_device("0000:18:00.0", "mlx4_0") +
              "l /sys/class/net/ib0 -> ../../devices/pci0000:15/0000:18:00.0/net/ib0\n"
              "l /sys/class/net/ib1 -> ../../devices/pci0000:15/0000:18:00.0/net/ib1\n");
  EXPECT_THAT(node.nics.at(0).netdevs, ElementsAre("ib0", "ib1"));
}

TEST(NicReader, functions_without_an_rdma_device_are_shown_by_address) {
  const auto node =
      node_of(pci_function("pci0000:15/0000:18:00.0", "20700", "15B3:1021", "vfio-pci") +
              pci_function("pci0000:15/0000:19:00.0", "20000", "15B3:1021", "mlx5_core") +
              pci_function("pci0000:15/0000:1a:00.0", "20000", "15B3:1021", "") +
              pci_function("pci0000:15/0000:1b:00.0", "20000", "8086:1563", "ixgbe") +
              pci_function("pci0000:15/0000:1c:00.0", "20000", "15B3:101D", "vfio-pci") +
              "l /sys/class/net/ens1 -> ../../devices/pci0000:15/0000:19:00.0/net/ens1\n");
  ASSERT_THAT(names_of_nics(node), ElementsAre("0000:18:00.0", "0000:19:00.0", "0000:1a:00.0"));
  EXPECT_FALSE(node.nics[0].registered);
  EXPECT_THAT(node.nics[0].ports, IsEmpty());
  EXPECT_THAT(node.nics[1].netdevs, ElementsAre("ens1"));
}

TEST(NicReader, virtual_functions_are_missed_only_under_an_rdma_driver) {
  const auto vf = [](const std::string& bdf, const std::string& driver) {
    return pci_function("pci0000:15/" + bdf, "20000", "15B3:101E", driver) +
           "l /sys/devices/pci0000:15/" + bdf + "/physfn -> ../0000:18:00.0\n";
  };
  const auto node = node_of(vf("0000:18:00.1", "") + vf("0000:18:00.2", "vfio-pci") +
                            vf("0000:18:00.3", "mlx5_core"));
  EXPECT_THAT(names_of_nics(node), ElementsAre("0000:18:00.3"));
}

TEST(NicReader, soft_devices_come_last_by_name_and_have_no_position) {
  const auto soft = [](const std::string& name) {
    return "t /sys/devices/virtual/infiniband/" + name + "/parent eth0\nl /sys/class/infiniband/" +
           name + " -> ../../devices/virtual/infiniband/" + name + "\n";
  };
  const auto node = node_of(soft("siw1") + soft("a_rxe") + rdma_device("0000:18:00.0", "mlx5_0") +
                            "t /sys/devices/virtual/net/eth0/operstate up\n"
                            "l /sys/class/net/eth0 -> ../../devices/virtual/net/eth0\n");
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "a_rxe", "siw1"));
  EXPECT_EQ(node.nics[1].pci, std::nullopt);
  EXPECT_EQ(node.nics[1].parent, "eth0");
  EXPECT_THAT(node.nics[1].netdevs, ElementsAre("eth0"));
  EXPECT_NE(node.find_netdev("eth0"), nullptr);
}

TEST(NicReader, the_netdev_below_a_soft_device_gives_it_no_position) {
  const auto node = node_of(
      "t /sys/devices/virtual/infiniband/rxe0/parent ens1\n"
      "l /sys/class/infiniband/rxe0 -> ../../devices/virtual/infiniband/rxe0\n"
      "l /sys/class/net/ens1 -> ../../devices/pci0000:15/0000:18:00.0/net/ens1\n");
  EXPECT_EQ(node.nics.at(0).pci, std::nullopt);
  EXPECT_EQ(node.nics.at(0).numa_node, std::nullopt);
}

TEST(NicReader, an_entry_that_leads_nowhere_is_not_there) {
  const auto node = node_of(
      "l /sys/class/infiniband/gone0 -> ../../devices/pci0000:15/0000:18:00.0/infiniband/gone0\n");
  EXPECT_THAT(node.nics, IsEmpty());
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(NicReader, zero_guids_are_values_and_broken_ones_are_problems) {
  const std::string device = "/sys/devices/pci0000:15/0000:18:00.0/infiniband/mlx5_0";
  const auto node = node_of(
      rdma_device("0000:18:00.0", "mlx5_0") + "t " + device + "/node_guid 0000:0000:0000:0000\nt " +
      device + "/sys_image_guid zero\n" + "t " + device + "/board_id HPE Ethernet 100Gb 2-port\n");
  EXPECT_EQ(node.nics.at(0).node_guid, "0000:0000:0000:0000");
  EXPECT_EQ(node.nics.at(0).sys_image_guid, std::nullopt);
  EXPECT_EQ(node.nics.at(0).board_id, "HPE Ethernet 100Gb 2-port");
  EXPECT_EQ(node.problems.size(), 1U);
}

/// A function whose RDMA device mlx5_7 is in another network namespace: its nodes stay.
std::string moved_device(const std::string& mode) {
  const std::string verbs = "/sys/devices/pci0000:15/0000:18:00.0/infiniband_verbs/uverbs3";
  return "t /sys/module/ib_core/parameters/netns_mode " + mode + "\n" +
         rdma_device("0000:19:00.0", "mlx5_0") +
         pci_function("pci0000:15/0000:18:00.0", "20000", "15B3:101E", "mlx5_core") + "t " + verbs +
         "/ibdev mlx5_7\nt " + verbs + "/dev 231:195\nl /sys/class/infiniband_verbs/uverbs3 -> " +
         "../.." + verbs.substr(4) + "\n";
}

TEST(NicReader, in_exclusive_mode_a_moved_device_is_known_by_its_nodes) {
  const auto node = node_of(moved_device("N"));
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
  const auto node = node_of(moved_device("Y"));
  ASSERT_THAT(names_of_nics(node), ElementsAre("0000:18:00.0", "mlx5_0"));
  EXPECT_FALSE(node.nics[0].registered);
}

TEST(NicReader, a_moved_subfunction_keeps_its_number) {
  const std::string sf = "/sys/devices/pci0000:15/0000:19:00.0/mlx5_core.sf.4";
  const std::string verbs = sf + "/infiniband_verbs/uverbs5";
  const auto node = node_of(
      "t /sys/module/ib_core/parameters/netns_mode N\n" + rdma_device("0000:19:00.0", "mlx5_0") +
      "t " + sf + "/sfnum 88\nt " + verbs + "/ibdev mlx5_9\nt " + verbs + "/dev 231:197\n" +
      "l /sys/class/infiniband_verbs/uverbs5 -> ../.." + verbs.substr(4) + "\n");
  ASSERT_THAT(names_of_nics(node), ElementsAre("mlx5_0", "mlx5_9"));
  EXPECT_EQ(node.nics[1].sub_function, "mlx5_core.sf.4");
  EXPECT_EQ(node.nics[1].sf_number, 88U);
}

}  // namespace
}  // namespace railhead::node
