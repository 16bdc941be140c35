// SPDX-License-Identifier: Apache-2.0
#include "usage/sockets.h"

#include <gmock/gmock.h>

#include "host/snapshot_host.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;

std::string line(const std::string& local, const std::string& remote, const std::string& state,
                 int inode) {
  return " 0: " + local + " " + remote + " " + state +
         " 00000000:00000000 00:00000000 00000000 0 0 " + std::to_string(inode) + " 1\n";
}

TEST(Sockets, only_established_connections_to_elsewhere_count) {
  const std::string table =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid timeout "
      "inode\n" +
      line("0100000A:1F90", "0200000A:0050", "01", 1) +
      line("0100000A:1F90", "0200000A:0050", "06", 2) +
      line("0100007F:1F90", "0100007F:0050", "01", 3) +
      line("0100000A:1F90", "0100000A:0050", "01", 4) +
      line("00000000:1F90", "00000000:0000", "0A", 5);
  EXPECT_THAT(established_elsewhere(table), ElementsAre(1U));
}

TEST(Sockets, loopback_has_three_forms_in_ipv6) {
  const std::string here = "0000000000000000FFFF00000100000A:1F90";
  EXPECT_THAT(established_elsewhere(line(here, "00000000000000000000000001000000:0050", "01", 1) +
                                    line(here, "0000000000000000FFFF00000100007F:0050", "01", 2) +
                                    line(here, "0000000000000000FFFF00000200000A:0050", "01", 3)),
              ElementsAre(3U));
}

TEST(Sockets, bytes_of_all_netdevs_but_loopback_are_added) {
  EXPECT_EQ(netdev_bytes("head\n lo: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n"
                         "eth0:10 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0\n eth1: 1 2 3\n"),
            17U);
}

/// Process 7 on the node's network or its own, with one connection.
std::unique_ptr<Host> host_with(const std::string& net, const std::string& more) {
  const auto table = line("0100000A:1F90", "0200000A:0050", "01", 31);
  return SnapshotHost::parse(
             "railhead-snapshot 1\nl /proc/1/ns/net -> net:[1]\nl /proc/7/ns/net -> " + net +
             "\nf /proc/7/net/tcp " + std::to_string(table.size()) + "\n" + table + "\n" + more)
      .value();
}

TEST(Sockets, in_a_namespace_of_its_own_all_connections_are_the_containers) {
  const auto use = read_network_use(*host_with("net:[2]", ""), "/proc", {6, 7});
  ASSERT_TRUE(use);
  EXPECT_TRUE(use->own);
  EXPECT_EQ(use->connections, 1U);
}

TEST(Sockets, in_the_nodes_namespace_only_those_that_its_processes_hold) {
  const auto held =
      read_network_use(*host_with("net:[1]", "l /proc/7/fd/3 -> socket:[31]\n"), "/proc", {7});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->connections, 1U);
  const auto others =
      read_network_use(*host_with("net:[1]", "l /proc/7/fd/3 -> socket:[32]\n"), "/proc", {7});
  ASSERT_TRUE(others);
  EXPECT_EQ(others->connections, 0U);
}

TEST(Sockets, descriptors_that_may_not_be_seen_leave_it_unknown) {
  EXPECT_FALSE(read_network_use(*host_with("net:[1]", "e /proc/7/fd EACCES\n"), "/proc", {7}));
  EXPECT_FALSE(read_network_use(*host_with("net:[2]", ""), "/proc", {6}));
}

}  // namespace
}  // namespace railhead::test
