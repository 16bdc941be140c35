// SPDX-License-Identifier: Apache-2.0
#include "node/netdev_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sysfs_tree.h"

namespace railhead::node {
namespace {

using test::file_entry;
using test::SysfsTree;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kHead =
    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n";
const std::string kZeros = "00000000000000000000000000000000";

std::string ipv4_default(const std::string& name, const std::string& flags = "0003",
                         unsigned metric = 100) {
  return name + "\t00000000\t0101A8C0\t" + flags + "\t0\t0\t" + std::to_string(metric) +
         "\t00000000\t0\t0\t0\n";
}

std::string ipv6_default(const std::string& name, const std::string& metric = "00000400") {
  return kZeros + " 00 " + kZeros + " 00 fe800000000000000000000000000001 " + metric +
         " 00000001 00000000 00450003 " + name + "\n";
}

DefaultRoutes routes(const std::string& entries) {
  const auto host = test::host_of(entries);
  Reader reader(*host);
  return read_default_routes(reader);
}

std::set<std::string> holders(const std::string& entries) {
  return routes(entries).holders;
}

std::vector<std::string> netdev_names(const Node& node) {
  std::vector<std::string> found;
  for (const auto& netdev : node.netdevs) found.push_back(netdev.name);
  return found;
}

TEST(DefaultRoutes, are_those_to_everywhere_that_are_up_and_do_not_reject) {
  EXPECT_THAT(
      holders(file_entry("/proc/1/net/route",
                         kHead + ipv4_default("eth0") + ipv4_default("eth1", "0002") +
                             ipv4_default("eth2", "0203") +
                             "eth3\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n"
                             "eth4\t00000000\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n")),
      ElementsAre("eth0"));
}

TEST(DefaultRoutes, of_ipv6_count_too) {
  EXPECT_THAT(holders(file_entry("/proc/1/net/ipv6_route",
                                 kZeros + " 00 " + kZeros +
                                     " 00 fe800000000000000000000000000001 00000400 "
                                     "00000001 00000000 00000003 ens7\n" +
                                     kZeros + " 00 " + kZeros + " 00 " + kZeros +
                                     " ffffffff 00000001 00000000 00200200       lo\n")),
              ElementsAre("ens7"));
}

TEST(DefaultRoutes, main_one_is_that_of_the_lowest_metric) {
  const auto found = routes(file_entry(
      "/proc/1/net/route", kHead + ipv4_default("eth2", "0003", 1024) +
                               ipv4_default("eth0", "0003", 99) + ipv4_default("eth1", "0003", 99) +
                               ipv4_default("eth3", "0003", 100)));
  EXPECT_THAT(found.main, ElementsAre("eth0", "eth1"));
  EXPECT_THAT(found.holders, ElementsAre("eth0", "eth1", "eth2", "eth3"));
}

TEST(DefaultRoutes, main_one_is_ipv6_only_where_ipv4_has_none) {
  const auto ipv6 = file_entry("/proc/1/net/ipv6_route",
                               ipv6_default("rail0") + ipv6_default("eth0", "000000ff"));
  const auto both = routes(file_entry("/proc/1/net/route", kHead + ipv4_default("eth9")) + ipv6);
  EXPECT_THAT(both.main, ElementsAre("eth9"));
  EXPECT_THAT(both.holders, ElementsAre("eth0", "eth9", "rail0"));
  EXPECT_THAT(routes(ipv6).main, ElementsAre("eth0"));
}

TEST(DefaultRoutes, of_process_one_win_over_our_own) {
  EXPECT_THAT(holders(file_entry("/proc/1/net/route", kHead + ipv4_default("host0")) +
                      file_entry("/proc/net/route", kHead + ipv4_default("pod0"))),
              ElementsAre("host0"));
  EXPECT_THAT(holders(file_entry("/proc/net/route", kHead + ipv4_default("pod0"))),
              ElementsAre("pod0"));
}

TEST(DefaultRoutes, garbage_has_none) {
  EXPECT_THAT(holders(file_entry("/proc/1/net/route", std::string("\0\0\n\n\n a b\n", 10)) +
                      file_entry("/proc/1/net/ipv6_route", std::string(100000, '0'))),
              IsEmpty());
}

TEST(NetdevReader, keeps_those_of_pci_functions_and_none_of_containers) {
  SysfsTree tree;
  tree.pci("0000:18:00.0").netdev("ens1").virtual_devices().netdev("lo").netdev("veth1");
  const auto node = tree.read();
  ASSERT_THAT(netdev_names(node), ElementsAre("ens1"));
  EXPECT_EQ(node.netdevs[0].pci->str(), "0000:18:00.0");
  EXPECT_EQ(node.netdevs[0].operstate, "up");
  EXPECT_EQ(node.netdevs[0].master, std::nullopt);
}

TEST(NetdevReader, a_default_route_over_a_vlan_on_a_bond_reaches_its_members) {
  SysfsTree tree;
  tree.pci("0000:18:00.0").netdev("ens1", "bond0").pci("0000:18:00.1").netdev("ens2", "bond0");
  tree.pci("0000:19:00.0").netdev("ens3").virtual_devices().netdev("bond0").netdev("bond0.7");
  tree.link("net/bond0.7/lower_bond0", "/sys/devices/virtual/net/bond0");
  tree.link("net/bond0/lower_ens1", "/sys/devices/pci0000:15/0000:18:00.0/net/ens1");
  tree.text("/sys/class/net/bonding_masters", "bond0").text("net/bond0/bonding/mode", "802.3ad 4");
  tree.add(file_entry("/proc/1/net/route", kHead + ipv4_default("bond0.7")));
  const auto node = tree.read();
  ASSERT_THAT(netdev_names(node), ElementsAre("bond0", "bond0.7", "ens1", "ens2", "ens3"));
  EXPECT_EQ(node.find_netdev("ens1")->master, "bond0");
  EXPECT_FALSE(node.find_netdev("bond0")->is_bridge);
  EXPECT_TRUE(node.find_netdev("bond0.7")->default_route);
  EXPECT_TRUE(node.find_netdev("bond0.7")->main_route);
  EXPECT_FALSE(node.find_netdev("ens1")->default_route);
  for (const auto* name : {"bond0.7", "bond0", "ens1", "ens2"}) {
    EXPECT_TRUE(node.carries_main_route(name)) << name;
  }
  EXPECT_FALSE(node.carries_main_route("ens3"));
  EXPECT_FALSE(node.carries_main_route("nothing"));
}

TEST(NetdevReader, a_bridge_is_known_by_its_folder) {
  SysfsTree tree;
  tree.pci("0000:18:00.0").netdev("ens1", "br0").virtual_devices().netdev("br0");
  tree.text("net/br0/bridge/stp_state", "0");
  tree.link("net/br0/lower_ens1", "/sys/devices/pci0000:15/0000:18:00.0/net/ens1");
  EXPECT_TRUE(tree.read().find_netdev("br0")->is_bridge);
}

TEST(NetdevReader, netdevs_that_are_above_each_other_in_a_circle_end) {
  SysfsTree tree;
  tree.virtual_devices().netdev("a", "b").netdev("b", "a");
  tree.add(file_entry("/proc/1/net/route", kHead + ipv4_default("a")));
  const auto node = tree.read();
  EXPECT_THAT(netdev_names(node), ElementsAre("a", "b"));
  EXPECT_TRUE(node.carries_main_route("b"));
}

Netdev netdev_with(const std::string& flags, const std::string& carrier) {
  SysfsTree tree;
  tree.pci("0000:16:00.0").netdev("ens1f0");
  tree.text("net/ens1f0/flags", flags).text("net/ens1f0/carrier", carrier);
  return tree.read().netdevs.at(0);
}

TEST(Netdevs, tell_whether_they_are_up_and_have_a_carrier) {
  const auto well = netdev_with("0x1003", "1");
  EXPECT_EQ(well.up, true);
  EXPECT_EQ(well.carrier, true);
  const auto cut = netdev_with("0x1003", "0");
  EXPECT_EQ(cut.up, true);
  EXPECT_EQ(cut.carrier, false);
}

TEST(Netdevs, that_are_down_are_not_asked_for_a_carrier) {
  const auto down = netdev_with("0x1002", "1");
  EXPECT_EQ(down.up, false);
  EXPECT_EQ(down.carrier, std::nullopt);
}

TEST(Netdevs, without_flags_say_neither) {
  const auto netdev = SysfsTree().pci("0000:16:00.0").netdev("ens1f0").read().netdevs.at(0);
  EXPECT_EQ(netdev.up, std::nullopt);
  EXPECT_EQ(netdev.carrier, std::nullopt);
}

}  // namespace
}  // namespace railhead::node
