// SPDX-License-Identifier: Apache-2.0
#include "host/link_news.h"

#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>

#include "host/netlink.h"

namespace railhead {
namespace {

constexpr std::uint32_t kLinkFlags = IFF_UP | IFF_LOWER_UP;

/// What made the interface, such as "veth"; empty for one of a device. Members of a bond have the
/// attribute IFLA_LINKINFO too, with other things in it.
std::string_view kind_of(std::string_view attributes) {
  while (const auto attribute = take_netlink_attribute(attributes)) {
    if (attribute->type != IFLA_LINKINFO) continue;
    auto nested = attribute->payload;
    while (const auto info = take_netlink_attribute(nested)) {
      if (info->type == IFLA_INFO_KIND) return info->payload.substr(0, info->payload.find('\0'));
    }
  }
  return {};
}

}  // namespace

UniqueFd LinkNews::open_socket() {
  UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!descriptor) return {};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(descriptor.get(), generic, sizeof address) != 0) return {};
  return descriptor;
}

bool LinkNews::take(std::string_view datagram) {
  bool changed = false;
  while (const auto message = take_netlink_message(datagram)) {
    const bool gone = message->type == RTM_DELLINK;
    if (!gone && message->type != RTM_NEWLINK) continue;
    ifinfomsg link{};
    if (message->payload.size() < sizeof link) continue;
    std::memcpy(&link, message->payload.data(), sizeof link);
    if (gone) {
      flags_.erase(link.ifi_index);  // the device's own event tells the rest
      continue;
    }
    changed = take_link(link, message->payload.substr(sizeof link)) || changed;
  }
  return changed;
}

bool LinkNews::take_link(const ifinfomsg& link, std::string_view attributes) {
  if ((link.ifi_flags & IFF_LOOPBACK) != 0) return false;
  const auto kind = kind_of(attributes);
  if (!kind.empty() && kind != "bond" && kind != "ipoib") return false;
  if (flags_.size() >= kMaxInterfaces && !flags_.contains(link.ifi_index)) flags_.clear();
  const std::uint32_t now = link.ifi_flags & kLinkFlags;
  const auto [at, is_new] = flags_.try_emplace(link.ifi_index, now);
  const bool changed = is_new || at->second != now;
  at->second = now;
  return changed;
}

}  // namespace railhead
