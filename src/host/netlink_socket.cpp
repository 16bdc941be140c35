// SPDX-License-Identifier: Apache-2.0
#include "host/netlink_socket.h"

#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace railhead::host {
namespace {

/// Of a dump the kernel packs as much into a datagram as the largest buffer that it saw has room
/// for, at most 32 KiB (net/netlink/af_netlink.c, netlink_recvmsg). An answer about one netdev with
/// its virtual functions is one message; a nested attribute has at most 64 KiB.
constexpr std::size_t kDatagramBytes = std::size_t{128} << 10;

}  // namespace

int receive_netlink(int descriptor, std::chrono::steady_clock::time_point deadline,
                    std::string& datagram) {
  using Clock = std::chrono::steady_clock;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    pollfd waited{descriptor, POLLIN, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready <= 0) continue;
    datagram.resize(kDatagramBytes);
    const auto got = ::recv(descriptor, datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return errno;
    if (static_cast<std::size_t>(got) > kDatagramBytes) return EPROTO;
    datagram.resize(static_cast<std::size_t>(got));
    return 0;
  }
}

int await_acknowledgement(int descriptor, std::uint32_t sequence) {
  const auto deadline = std::chrono::steady_clock::now() + kNetlinkTimeLimit;
  std::string datagram;
  for (;;) {
    if (const int failed = receive_netlink(descriptor, deadline, datagram)) return failed;
    std::string_view rest = datagram;
    while (const auto message = take_netlink_message(rest)) {
      if (message->sequence != sequence) continue;
      if (const auto number = netlink_error(*message)) return *number;
    }
  }
}

std::optional<int> netlink_error(const NetlinkMessage& message) {
  if (message.type != NLMSG_ERROR) return std::nullopt;
  const auto code = netlink_number<std::uint32_t>(message.payload.substr(0, 4));
  return code ? static_cast<int>(~*code + 1) : EPROTO;  // negated there
}

int exchange_netlink(const std::string& request,
                     const std::function<bool(std::string_view datagram)>& take) {
  const auto deadline = std::chrono::steady_clock::now() + kNetlinkTimeLimit;
  const UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!descriptor) return errno;
  if (::send(descriptor.get(), request.data(), request.size(), 0) < 0) return errno;
  std::string datagram;
  for (;;) {
    if (const int failed = receive_netlink(descriptor.get(), deadline, datagram)) return failed;
    if (take(datagram)) return 0;
  }
}

int ask_netlink(const std::string& request, std::uint32_t sequence, std::string& answer) {
  int refused = 0;
  const int failed = exchange_netlink(request, [&](std::string_view datagram) {
    auto rest = datagram;
    while (const auto message = take_netlink_message(rest)) {
      if (message->sequence != sequence) continue;
      refused = netlink_error(*message).value_or(0);
      answer = datagram;
      return true;
    }
    return false;
  });
  return failed != 0 ? failed : refused;
}

UniqueFd open_netlink_group(int protocol, std::uint32_t group) {
  UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = group;
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (descriptor && ::bind(descriptor.get(), generic, sizeof address) != 0) return {};
  return descriptor;
}

}  // namespace railhead::host
