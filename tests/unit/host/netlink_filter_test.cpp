// SPDX-License-Identifier: Apache-2.0
#include "host/netlink_filter.h"

#include <linux/if.h>
#include <sys/socket.h>

#include <array>

#include <gtest/gtest.h>

#include "host/changes.h"
#include "host/link_news.h"
#include "host/unique_fd.h"
#include "unit/host/link_messages.h"

namespace railhead::test {
namespace {

/// The kernel filters what a local socket is sent as it does netlink.
class Filtered {
 public:
  explicit Filtered(void (*filter)(int)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    from_ = host::UniqueFd(ends[0]);
    to_ = host::UniqueFd(ends[1]);
    filter(to_.get());
  }

  bool lets_pass(const std::string& message) {
    EXPECT_GE(::send(from_.get(), message.data(), message.size(), 0), 0);
    std::array<char, 4096> buffer{};
    const auto size = ::recv(to_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0) return false;
    EXPECT_EQ(std::string(buffer.data(), static_cast<std::size_t>(size)), message) << "whole";
    return true;
  }

 private:
  host::UniqueFd from_;
  host::UniqueFd to_;
};

constexpr std::array kActions{"add",    "bind",   "change", "move",
                              "online", "remove", "unbind", "offline"};

std::string uevent(const std::string& action, const std::string& path, const std::string& system) {
  const std::string end(1, '\0');
  return action + "@" + path + end + "ACTION=" + action + end + "DEVPATH=" + path + end +
         "SUBSYSTEM=" + system + end + "SEQNUM=4711" + end;
}

TEST(NetlinkFilter, the_netdevs_of_pods_do_not_wake_who_waits_for_a_machine) {
  Filtered socket(host::leave_out_virtual_netdevs);
  for (const std::string action : kActions) {
    EXPECT_FALSE(socket.lets_pass(uevent(action, "/devices/virtual/net/veth1a2b", "net")));
    EXPECT_FALSE(socket.lets_pass(uevent(action, "/devices/virtual/net/lo1", "net")));
    EXPECT_FALSE(
        socket.lets_pass(uevent(action, "/devices/virtual/net/veth1a2b/queues/rx-0", "queues")));
  }
}

TEST(NetlinkFilter, every_other_event_comes) {
  Filtered socket(host::leave_out_virtual_netdevs);
  for (const std::string action : kActions) {
    for (const auto* path :
         {"/devices/pci0000:15/0000:15:01.0/0000:18:00.0/net/eth0", "/module/mlx5_core",
          "/devices/virtual/infiniband/rxe0", "/devices/virtual/misc/rdma_cm",
          "/devices/virtual/net/lo/infiniband/siw0", "/devices/virtual/net_of_others/x",
          "/bus/pci/drivers/nvidia", "/"}) {
      EXPECT_TRUE(socket.lets_pass(uevent(action, path, "net"))) << action << " " << path;
    }
  }
  EXPECT_TRUE(socket.lets_pass(uevent("exchange", "/devices/virtual/net/veth1", "net")))
      << "an action that no kernel has today";
}

/// With another attribute behind the kind, as many have.
std::string made_as(const char* kind) {
  return of_kind(kind, u32(IFLA_INFO_XSTATS, 0));
}

TEST(NetlinkFilter, links_that_software_made_do_not_come) {
  Filtered socket(host::leave_out_made_links);
  for (const auto* kind : {"veth", "vlan", "vxlan", "bridge", "dummy", "macvlan", "tun", "vti"}) {
    EXPECT_FALSE(socket.lets_pass(link(7, IFF_UP, made_as(kind)))) << kind;
    EXPECT_FALSE(socket.lets_pass(link(7, IFF_UP, made_as(kind), RTM_DELLINK))) << kind;
    EXPECT_FALSE(host::LinkNews().take(link(7, IFF_UP, made_as(kind)))) << "and would say nothing";
  }
}

TEST(NetlinkFilter, what_a_bridge_tells_of_its_ports_does_not_come) {
  Filtered socket(host::leave_out_made_links);
  host::LinkNews links;
  (void)links.take(link(7, IFF_UP));
  for (const auto type : {RTM_NEWLINK, RTM_DELLINK}) {
    const auto of_port = link(7, 0, "", type, AF_BRIDGE);
    EXPECT_FALSE(socket.lets_pass(of_port));
    EXPECT_FALSE(links.take(of_port));
  }
  EXPECT_FALSE(links.take(link(7, IFF_UP))) << "it is as it was";
}

TEST(NetlinkFilter, links_of_devices_bonds_and_ipoib_come) {
  Filtered socket(host::leave_out_made_links);
  EXPECT_TRUE(socket.lets_pass(link(7, IFF_UP)));
  EXPECT_TRUE(socket.lets_pass(link(7, IFF_UP, u32(IFLA_MTU, 9000), RTM_DELLINK)));
  EXPECT_TRUE(socket.lets_pass(link(7, IFF_UP, made_as("bond"))));
  EXPECT_TRUE(socket.lets_pass(link(7, IFF_UP, made_as("ipoib"))));
  const auto member = attribute(IFLA_LINKINFO, text_attribute(IFLA_INFO_SLAVE_KIND, "bridge"));
  EXPECT_TRUE(socket.lets_pass(link(7, IFF_UP, member)));
}

}  // namespace
}  // namespace railhead::test
