// SPDX-License-Identifier: Apache-2.0
#include "bench/client_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <memory>
#include <optional>

namespace railhead::bench {
namespace {

constexpr std::size_t kMost = 8;
constexpr std::uint32_t kLinkLocalNet = 0xa9fe0000;  ///< 169.254.0.0/16, RFC 3927
constexpr std::uint32_t kLinkLocalMask = 0xffff0000;

struct Deleter {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::optional<OwnAddress> own_address(const ifaddrs& one) {
  if (one.ifa_addr == nullptr || (one.ifa_flags & IFF_UP) == 0) return std::nullopt;
  OwnAddress address;
  const void* bytes = nullptr;
  if (one.ifa_addr->sa_family == AF_INET) {
    const auto* ipv4 = reinterpret_cast<const sockaddr_in*>(one.ifa_addr);
    bytes = &ipv4->sin_addr;
    address.is_link_local = (ntohl(ipv4->sin_addr.s_addr) & kLinkLocalMask) == kLinkLocalNet;
  } else if (one.ifa_addr->sa_family == AF_INET6) {
    const auto* ipv6 = reinterpret_cast<const sockaddr_in6*>(one.ifa_addr);
    bytes = &ipv6->sin6_addr;
    address.is_ipv6 = true;
    address.is_link_local = IN6_IS_ADDR_LINKLOCAL(&ipv6->sin6_addr) != 0;
  } else {
    return std::nullopt;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(one.ifa_addr->sa_family, bytes, text.data(), text.size()) == nullptr) {
    return std::nullopt;
  }
  address.text = text.data();
  address.is_loopback = (one.ifa_flags & IFF_LOOPBACK) != 0;
  return address;
}

}  // namespace

std::vector<OwnAddress> own_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, Deleter> list(first);
  std::vector<OwnAddress> all;
  for (const auto* one = list.get(); one != nullptr; one = one->ifa_next) {
    if (auto address = own_address(*one)) all.push_back(*std::move(address));
  }
  return all;
}

std::vector<std::string> client_addresses(const std::string& listening,
                                          const std::vector<OwnAddress>& own) {
  const bool is_any_ipv4 = listening.starts_with("0.0.0.0:");
  if (!is_any_ipv4 && !listening.starts_with("[::]:")) return {listening};
  const auto port = listening.substr(listening.rfind(':'));
  std::vector<std::string> fitting;
  for (const bool loopback : {false, true}) {
    for (const auto& one : own) {
      if (one.is_loopback != loopback || one.is_link_local) continue;
      if (is_any_ipv4 && one.is_ipv6) continue;
      if (fitting.size() == kMost) break;
      fitting.push_back((one.is_ipv6 ? "[" + one.text + "]" : one.text) + port);
    }
    if (!fitting.empty()) return fitting;
  }
  return {listening};
}

}  // namespace railhead::bench
