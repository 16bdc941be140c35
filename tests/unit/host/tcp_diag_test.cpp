// SPDX-License-Identifier: Apache-2.0
#include "host/tcp_diag.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include <gmock/gmock.h>

#include <cerrno>
#include <cstddef>

#include "host/directory_host.h"
#include "host/host_error.h"
#include "host/netlink.h"
#include "unit/netlink_builder.h"
#include "unit/without_threads.h"

namespace railhead::host {
namespace {

using test::attribute;
using test::message;
using test::netlink_status;
using test::raw;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr unsigned kByFamily = 20;

std::string of_socket(int family, const char* local, const char* remote, unsigned inode,
                      const std::string& attributes) {
  inet_diag_msg facts{};
  facts.idiag_family = static_cast<__u8>(family);
  facts.idiag_inode = inode;
  EXPECT_EQ(::inet_pton(family, local, &facts.id.idiag_src), 1);
  EXPECT_EQ(::inet_pton(family, remote, &facts.id.idiag_dst), 1);
  return message(kByFamily, raw(facts) + attributes);
}

std::string info(std::uint64_t acked, std::uint64_t received) {
  tcp_info facts{};
  facts.tcpi_bytes_acked = acked;
  facts.tcpi_bytes_received = received;
  return attribute(INET_DIAG_INFO, raw(facts));
}

struct TakenTcp {
  TcpDatagram says;
  std::vector<TcpSocket> sockets;
  int error_number = 0;
};

TakenTcp take_tcp(const std::string& datagram) {
  TakenTcp taken{TcpDatagram::more, {}, 0};
  taken.says = take_tcp_datagram(datagram, 1, taken.sockets, taken.error_number);
  return taken;
}

TEST(TcpDiag, without_a_thread_is_an_error) {
  EXPECT_TRUE(test::without_threads([] {
    const UniqueFd own(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
    const auto sockets = ask_tcp_diag(own.get());
    return !sockets && errno_of(sockets.error()) == EAGAIN;
  }));
}

TEST(TcpDiag, a_connection_to_elsewhere_has_its_bytes) {
  const auto taken = take_tcp(of_socket(AF_INET, "10.0.0.1", "10.0.0.2", 31, info(1000, 200)) +
                              of_socket(AF_INET6, "fd00::1", "fd00::2", 32, info(5, 6)) +
                              message(kNetlinkDone, netlink_status(0)));
  EXPECT_EQ(taken.says, TcpDatagram::done);
  EXPECT_THAT(taken.sockets, ElementsAre(TcpSocket{31, 1000, 200}, TcpSocket{32, 5, 6}));
}

TEST(TcpDiag, a_connection_to_this_machine_is_none) {
  EXPECT_THAT(take_tcp(of_socket(AF_INET, "127.0.0.1", "127.0.0.9", 1, "") +
                       of_socket(AF_INET, "10.0.0.1", "10.0.0.1", 2, "") +
                       of_socket(AF_INET6, "::1", "::1", 3, "") +
                       of_socket(AF_INET6, "fd00::1", "::ffff:127.0.0.1", 4, ""))
                  .sockets,
              IsEmpty());
}

TEST(TcpDiag, a_kernel_that_counts_no_bytes_still_names_the_socket) {
  const auto old = info(1, 2).substr(0, 4 + offsetof(tcp_info, tcpi_bytes_acked));
  auto attributes = test::attribute(INET_DIAG_INFO, old.substr(4));
  const auto taken = take_tcp(of_socket(AF_INET, "10.0.0.1", "10.0.0.2", 31, attributes));
  EXPECT_EQ(taken.says, TcpDatagram::more);
  EXPECT_THAT(taken.sockets, ElementsAre(TcpSocket{31, {}, {}}));
}

TEST(TcpDiag, a_refusal_keeps_its_errno) {
  const auto refused = take_tcp(message(test::kNetlinkError, netlink_status(ENOENT)));
  EXPECT_EQ(refused.says, TcpDatagram::failed);
  EXPECT_EQ(refused.error_number, ENOENT);
  EXPECT_EQ(take_tcp(message(kByFamily, "short")).says, TcpDatagram::failed);
  EXPECT_EQ(take_tcp("cut").says, TcpDatagram::failed);
}

TEST(TcpDiag, a_list_that_fails_in_the_middle_is_no_list) {
  const auto taken = take_tcp(of_socket(AF_INET, "10.0.0.1", "10.0.0.2", 31, info(1000, 200)) +
                              message(kNetlinkDone, netlink_status(ENOBUFS)));
  EXPECT_EQ(taken.says, TcpDatagram::failed);
  EXPECT_EQ(taken.error_number, ENOBUFS);
  EXPECT_EQ(take_tcp(message(kNetlinkDone, "")).says, TcpDatagram::failed);
}

TEST(TcpDiag, the_living_machine_answers_for_our_own_namespace) {
  const auto host = DirectoryHost::open("/").value();
  const auto answer = host->tcp_sockets("/proc/self/ns/net");
  if (!answer || !*answer) GTEST_SKIP() << "no socket statistics here";
  EXPECT_LE((*answer)->size(), kMaxTcpSockets);
  EXPECT_EQ(host->tcp_sockets("/proc/self/ns/none").value(), std::nullopt);
  EXPECT_EQ(host->tcp_sockets("/proc/4194305/ns/net").value(), std::nullopt);
}

}  // namespace
}  // namespace railhead::host
