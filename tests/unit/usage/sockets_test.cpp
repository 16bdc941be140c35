// SPDX-License-Identifier: Apache-2.0
#include "usage/sockets.h"

#include <gmock/gmock.h>

#include <map>

#include "host/host_error.h"
#include "snapshot/snapshot_host.h"
#include "unit/host/empty_host.h"

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
  EXPECT_THAT(usage::established_elsewhere(table), ElementsAre(1U));
}

TEST(Sockets, loopback_has_three_forms_in_ipv6) {
  const std::string here = "0000000000000000FFFF00000100000A:1F90";
  EXPECT_THAT(
      usage::established_elsewhere(line(here, "00000000000000000000000001000000:0050", "01", 1) +
                                   line(here, "0000000000000000FFFF00000100007F:0050", "01", 2) +
                                   line(here, "0000000000000000FFFF00000200000A:0050", "01", 3)),
      ElementsAre(3U));
}

TEST(Sockets, bytes_of_all_netdevs_but_loopback_are_added) {
  EXPECT_EQ(usage::netdev_bytes("head\n lo: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n"
                                "eth0:10 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0\n eth1: 1 2 3\n"),
            17U);
}

/// Process 7 on the node's network or its own, with one connection.
std::unique_ptr<host::Host> host_with(const std::string& net, const std::string& more) {
  const auto table = line("0100000A:1F90", "0200000A:0050", "01", 31);
  return snapshot::SnapshotHost::parse(
             "railhead-snapshot 1\nl /proc/1/ns/net -> net:[1]\nl /proc/7/ns/net -> " + net +
             "\nf /proc/7/net/tcp " + std::to_string(table.size()) + "\n" + table + "\n" + more)
      .value();
}

Result<usage::NetworkUse> network_use(host::Host& host, const std::string& proc_dir,
                                      const std::vector<std::uint32_t>& processes) {
  const usage::ProcessTable table;
  const auto held = usage::HeldFilesReader(host, proc_dir, table).read(processes);
  return usage::Networks(host, proc_dir, table).use_of(processes, held);
}

TEST(Sockets, in_its_own_namespace_all_connections_are_the_containers) {
  const auto use = network_use(*host_with("net:[2]", ""), "/proc", {6, 7});
  ASSERT_TRUE(use);
  EXPECT_TRUE(use->own);
  EXPECT_EQ(use->connections, 1U);
}

TEST(Sockets, in_the_nodes_namespace_only_those_that_its_processes_hold) {
  const auto held =
      network_use(*host_with("net:[1]", "l /proc/7/fd/3 -> socket:[31]\n"), "/proc", {7});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->connections, 1U);
  const auto others =
      network_use(*host_with("net:[1]", "l /proc/7/fd/3 -> socket:[32]\n"), "/proc", {7});
  ASSERT_TRUE(others);
  EXPECT_EQ(others->connections, 0U);
}

TEST(Sockets, descriptors_that_may_not_be_seen_leave_it_unknown) {
  EXPECT_FALSE(network_use(*host_with("net:[1]", "e /proc/7/fd EACCES\n"), "/proc", {7}));
  EXPECT_FALSE(network_use(*host_with("net:[2]", ""), "/proc", {6}));
}

/// Process 7 in a namespace of its own, with these tables.
Result<usage::NetworkUse> use_of(const std::string& tables) {
  const auto host = snapshot::SnapshotHost::parse(
                        "railhead-snapshot 1\nl /proc/1/ns/net -> net:[1]\n"
                        "l /proc/7/ns/net -> net:[2]\n" +
                        tables)
                        .value();
  return network_use(*host, "/proc", {7});
}

TEST(Sockets, an_unread_table_leaves_open_what_the_other_does_not_show) {
  const auto unread = use_of("e /proc/7/net/tcp EFBIG\nt /proc/7/net/tcp6 sl\n");
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().message, "/proc/7/net/tcp: larger than our limit");
  EXPECT_FALSE(use_of("t /proc/7/net/tcp sl\ne /proc/7/net/tcp6 EACCES\n"));
  EXPECT_EQ(use_of("t /proc/7/net/tcp sl\n").value().connections, 0U);  // no IPv6 here
  const auto one = line("0100000A:1F90", "0200000A:0050", "01", 31);
  EXPECT_EQ(use_of("e /proc/7/net/tcp6 EACCES\nf /proc/7/net/tcp " + std::to_string(one.size()) +
                   "\n" + one + "\n")
                .value()
                .connections,
            1U);
}

TEST(Sockets, too_many_processes_leave_it_open_unless_one_is_connected) {
  std::vector<std::uint32_t> many = {7};
  for (std::uint32_t i = 0; i < 1024; ++i) many.push_back(100 + i);
  const auto none = network_use(*host_with("net:[1]", "d /proc/7/fd\n"), "/proc", many);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "more than 1024 processes may hold them");
  EXPECT_EQ(network_use(*host_with("net:[1]", "l /proc/7/fd/3 -> socket:[31]\n"), "/proc", many)
                .value()
                .connections,
            1U);
  many.pop_back();
  EXPECT_TRUE(network_use(*host_with("net:[1]", "d /proc/7/fd\n"), "/proc", many));
}

TEST(Sockets, statistics_of_sockets_say_bytes_and_replace_the_tables) {
  const auto host = host_with("net:[2]",
                              "e /proc/7/net/tcp6 EACCES\nf /.netlink/tcp/2 19\n"
                              "40 1 2\n31 1000 200\n\n");
  const auto use = network_use(*host, "/proc", {7});
  ASSERT_TRUE(use) << use.error().message;
  EXPECT_EQ(use->connections, 2U);
  ASSERT_TRUE(use->sockets);
  EXPECT_EQ((*use->sockets)[0], (host::TcpSocket{31, 1000, 200}));
}

TEST(Sockets, of_the_nodes_connections_each_holder_has_its_own) {
  const auto host = host_with("net:[1]",
                              "l /proc/8/ns/net -> net:[1]\n"
                              "l /proc/7/fd/3 -> socket:[31]\n"
                              "l /proc/8/fd/3 -> socket:[40]\n"
                              "t /.netlink/tcp/1 40 1 -\n");
  const usage::ProcessTable table;
  usage::Networks networks(*host, "/proc", table);
  usage::HeldFilesReader files(*host, "/proc", table);
  const auto use_by = [&](std::uint32_t process) {
    return networks.use_of({process}, files.read({process})).value();
  };
  EXPECT_EQ(use_by(7).connections, 0U);
  EXPECT_EQ(use_by(8).connections, 1U);
  EXPECT_EQ(use_by(8).sockets->at(0), (host::TcpSocket{40, 1, std::nullopt}));
}

/// Any number of connections in each namespace.
class ManySockets final : public EmptyHost {
 public:
  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return std::optional<std::string>(path == "/proc/1/ns/net" ? "net:[1]" : names.at(path));
  }

  Result<std::optional<std::vector<host::TcpSocket>>> tcp_sockets(const std::string&) override {
    ++asked;
    std::vector<host::TcpSocket> sockets;
    for (std::uint64_t inode = 1; inode <= connections; ++inode) sockets.push_back({inode, 1, 1});
    return std::optional(std::move(sockets));
  }

  std::map<std::string, std::string> names;
  std::uint64_t connections = 0;
  int asked = 0;
};

TEST(Sockets, ten_thousand_connections_of_the_node_are_read_once) {
  ManySockets host;
  host.connections = 10'000;  // /proc/net/tcp of so many is larger than what is read
  const usage::ProcessTable table;
  usage::Networks networks(host, "/proc", table);
  for (std::uint32_t process = 100; process < 150; ++process) {
    host.names["/proc/" + std::to_string(process) + "/ns/net"] = "net:[1]";
    usage::HeldFiles held;
    held.sockets = {process, process + 5000, 20'000};
    const auto use = networks.use_of({process}, held);
    ASSERT_TRUE(use) << use.error().message;
    EXPECT_EQ(use->connections, 2U);
    EXPECT_EQ(use->sockets->at(1), (host::TcpSocket{process + 5000, 1, 1}));
  }
  EXPECT_EQ(host.asked, 1);
}

TEST(Sockets, of_connections_without_room_the_number_is_kept) {
  ManySockets host;
  host.connections = 30'000;
  const usage::ProcessTable table;
  usage::Networks networks(host, "/proc", table);
  std::size_t kept = 0;
  for (std::uint32_t process = 2; process < 12; ++process) {
    host.names["/proc/" + std::to_string(process) + "/ns/net"] =
        "net:[" + std::to_string(process / 2 * 2) + "]";  // two containers of each pod
    const auto use = networks.use_of({process}, {});
    ASSERT_TRUE(use);
    EXPECT_EQ(use->connections, 30'000U);
    EXPECT_TRUE(use->by_statistics);
    if (use->sockets) kept += use->sockets->size();
  }
  EXPECT_EQ(kept, 60'000U);
  EXPECT_EQ(host.asked, 5);
}

TEST(Sockets, a_namespace_that_nothing_tells_of_says_why) {
  const auto host = snapshot::SnapshotHost::parse(
                        "railhead-snapshot 1\nl /proc/1/ns/net -> net:[1]\n"
                        "l /proc/7/ns/net -> net:[2]\ne /.netlink/tcp/2 EPERM\n")
                        .value();
  const auto use = network_use(*host, "/proc", {7});
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().message, "/.netlink/tcp/2: operation not permitted");
}

TEST(Sockets, a_namespace_of_who_took_the_number_of_a_process_is_not_its) {
  const auto host =
      host_with("net:[2]",
                "t /.netlink/tcp/2 31 1 1\n"
                "t /proc/7/stat 7 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n");
  usage::ProcessTable table;
  table.by_id[7].start_ticks = 9;
  EXPECT_TRUE(usage::Networks(*host, "/proc", table).use_of({7}, {}));
  table.by_id[7].start_ticks = 8;
  const auto use = usage::Networks(*host, "/proc", table).use_of({7}, {});
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().message, "its processes have ended");
}

TEST(Sockets, statistics_that_are_refused_leave_the_tables) {
  for (const std::string refusal : {"e /.netlink/tcp/2 EPERM\n", "t /.netlink/tcp/2 31 x 1\n",
                                    "t /.netlink/tcp/2 31\n", "d /.netlink/tcp/2\n"}) {
    const auto use = network_use(*host_with("net:[2]", refusal), "/proc", {7});
    ASSERT_TRUE(use) << refusal;
    EXPECT_EQ(use->connections, 1U) << refusal;
    EXPECT_FALSE(use->sockets) << refusal;
  }
}

}  // namespace
}  // namespace railhead::test
