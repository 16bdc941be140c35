// SPDX-License-Identifier: Apache-2.0
#include "host/tcp_diag.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <thread>

#include "host/host_error.h"
#include "host/netlink.h"
#include "host/netlink_socket.h"
#include "host/unique_fd.h"

namespace railhead::host {
namespace {

using DiagClock = std::chrono::steady_clock;

constexpr unsigned kEstablishedState = 1;  // TCP_ESTABLISHED, include/net/tcp_states.h

using Address = std::array<unsigned char, 16>;

Address address_bytes(const __be32 (&words)[4]) {
  Address bytes{};
  std::memcpy(bytes.data(), &words, bytes.size());
  return bytes;
}

/// 127.0.0.0/8, ::1, and the first inside IPv6.
bool is_own_address(unsigned family, const Address& address) {
  if (family == AF_INET) return address[0] == 127;
  static constexpr Address kSelf = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  static constexpr Address kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127};
  constexpr std::size_t kPrefix = 13;
  return address == kSelf ||
         std::equal(kMapped.begin(), kMapped.begin() + kPrefix, address.begin());
}

std::optional<std::uint64_t> number_at(std::string_view bytes, std::size_t offset) {
  if (bytes.size() < offset + sizeof(std::uint64_t)) return std::nullopt;
  return netlink_number<std::uint64_t>(bytes.substr(offset, sizeof(std::uint64_t)));
}

/// Nothing for a connection to this machine itself.
std::optional<TcpSocket> socket_of(std::string_view payload) {
  inet_diag_msg facts{};
  std::memcpy(&facts, payload.data(), sizeof facts);
  const auto local = address_bytes(facts.id.idiag_src);
  const auto remote = address_bytes(facts.id.idiag_dst);
  if (local == remote || is_own_address(facts.idiag_family, remote)) return std::nullopt;
  TcpSocket socket;
  socket.inode = facts.idiag_inode;
  payload.remove_prefix(sizeof facts);
  while (const auto attribute = take_netlink_attribute(payload)) {
    if (attribute->type != INET_DIAG_INFO) continue;
    socket.sent_bytes = number_at(attribute->payload, offsetof(tcp_info, tcpi_bytes_acked));
    socket.received_bytes = number_at(attribute->payload, offsetof(tcp_info, tcpi_bytes_received));
  }
  return socket;
}

std::string question(unsigned family, std::uint32_t sequence) {
  inet_diag_req_v2 request{};
  request.sdiag_family = static_cast<__u8>(family);
  request.sdiag_protocol = IPPROTO_TCP;
  request.idiag_ext = 1U << (INET_DIAG_INFO - 1U);
  request.idiag_states = 1U << kEstablishedState;
  return netlink_message(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, sequence,
                         netlink_bytes(request));
}

/// 0 or an errno. IPv4 and IPv6, one after the other.
int ask(int descriptor, std::vector<TcpSocket>& sockets) {
  const auto deadline = DiagClock::now() + kNetlinkTimeLimit;
  std::uint32_t sequence = 0;
  for (const unsigned family : {unsigned{AF_INET}, unsigned{AF_INET6}}) {
    const auto text = question(family, ++sequence);
    if (::send(descriptor, text.data(), text.size(), 0) < 0) return errno;
    auto says = TcpDatagram::more;
    while (says == TcpDatagram::more) {
      std::string datagram;
      int error_number = receive_netlink(descriptor, deadline, datagram);
      if (error_number != 0) return error_number;
      says = take_tcp_datagram(datagram, sequence, sockets, error_number);
      if (says == TcpDatagram::failed) return error_number;
    }
  }
  return 0;
}

/// Whether a namespace is the one that this process is in.
bool is_own_namespace(int descriptor) {
  struct stat there {};

  struct stat here {};

  return ::fstat(descriptor, &there) == 0 && ::stat("/proc/self/ns/net", &here) == 0 &&
         there.st_ino == here.st_ino && there.st_dev == here.st_dev;
}

}  // namespace

TcpDatagram take_tcp_datagram(std::string_view datagram, std::uint32_t sequence,
                              std::vector<TcpSocket>& sockets, int& error_number) {
  while (!datagram.empty()) {
    const auto message = take_netlink_message(datagram);
    error_number = EPROTO;
    if (!message) return TcpDatagram::failed;
    if (message->sequence != sequence) continue;
    if (message->type == kNetlinkDone || message->type == NLMSG_ERROR) {
      // Both begin with an errno, negated: a list may fail in the middle, too.
      const auto status = netlink_number<std::uint32_t>(message->payload.substr(0, 4));
      if (message->type == kNetlinkDone && status == 0U) return TcpDatagram::done;
      if (status) error_number = static_cast<int>(~*status + 1);
      return TcpDatagram::failed;
    }
    if (message->payload.size() < sizeof(inet_diag_msg)) return TcpDatagram::failed;
    const auto socket = socket_of(message->payload);
    if (!socket) continue;
    error_number = EFBIG;
    if (sockets.size() == kMaxTcpSockets) return TcpDatagram::failed;
    sockets.push_back(*socket);
  }
  return TcpDatagram::more;
}

Result<std::vector<TcpSocket>> ask_tcp_diag(int network_namespace) {
  std::vector<TcpSocket> sockets;
  int error_number = 0;
  const bool is_own = is_own_namespace(network_namespace);
  const auto look = [&] {
    if (!is_own && ::setns(network_namespace, CLONE_NEWNET) != 0) {
      error_number = errno;
      return;
    }
    const UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    error_number = descriptor ? ask(descriptor.get(), sockets) : errno;
  };
  // A thread of its own, because a thread that has left its namespace may not come back.
  try {
    std::thread(look).join();
  } catch (const std::system_error&) {  // no thread can be had now
    error_number = EAGAIN;
  }
  if (error_number != 0) return host_error("sock_diag", error_number);
  return sockets;
}

}  // namespace railhead::host
