// SPDX-License-Identifier: Apache-2.0
#include "host/link_news.h"

#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cstring>

#include "host/netlink.h"
#include "host/netlink_filter.h"
#include "host/netlink_socket.h"

namespace railhead::host {
namespace {

constexpr std::uint32_t kLinkFlags = IFF_UP | IFF_LOWER_UP;

struct Interface {
  std::string_view name;
  std::string_view kind;  ///< what made it, such as "veth"; empty for one of a device
};

std::string_view attribute_text(std::string_view payload) {
  return payload.substr(0, payload.find('\0'));
}

/// Members of a bond have the attribute IFLA_LINKINFO too, with other things in it.
std::string_view kind_in(std::string_view link_info) {
  while (const auto info = take_netlink_attribute(link_info)) {
    if (info->type == IFLA_INFO_KIND) return attribute_text(info->payload);
  }
  return {};
}

Interface interface_in(std::string_view attributes) {
  Interface found;
  while (const auto attribute = take_netlink_attribute(attributes)) {
    if (attribute->type == IFLA_IFNAME) found.name = attribute_text(attribute->payload);
    if (attribute->type == IFLA_LINKINFO) found.kind = kind_in(attribute->payload);
  }
  return found;
}

}  // namespace

UniqueFd LinkNews::open_socket() {
  UniqueFd descriptor = open_netlink_group(NETLINK_ROUTE, RTMGRP_LINK);
  if (descriptor) leave_out_made_links(descriptor.get());
  return descriptor;
}

MachineChanges LinkNews::take(std::string_view datagram) {
  MachineChanges changes;
  while (const auto message = take_netlink_message(datagram)) {
    const bool gone = message->type == RTM_DELLINK;
    if (!gone && message->type != RTM_NEWLINK) continue;
    ifinfomsg link{};
    if (message->payload.size() < sizeof link) continue;
    std::memcpy(&link, message->payload.data(), sizeof link);
    if (link.ifi_family != AF_UNSPEC) continue;  // of a bridge, about its port
    if (gone) {
      flags_.erase(link.ifi_index);  // the device's own event tells the rest
      continue;
    }
    take_link(link, message->payload.substr(sizeof link), changes);
  }
  return changes;
}

void LinkNews::take_link(const ifinfomsg& link, std::string_view attributes,
                         MachineChanges& changes) {
  if ((link.ifi_flags & IFF_LOOPBACK) != 0) return;
  const auto interface = interface_in(attributes);
  const auto& kind = interface.kind;
  if (!kind.empty() && kind != "bond" && kind != "ipoib") return;
  if (flags_.size() >= kMaxInterfaces && !flags_.contains(link.ifi_index)) flags_.clear();
  const std::uint32_t now = link.ifi_flags & kLinkFlags;
  const auto [at, is_new] = flags_.try_emplace(link.ifi_index, now);
  if (is_new || at->second != now) changes.add_netdev(interface.name);
  at->second = now;
}

}  // namespace railhead::host
