// SPDX-License-Identifier: Apache-2.0
#include "host/vf_netlink.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/hex.h"
#include "host/host_error.h"
#include "host/netlink.h"
#include "host/netlink_socket.h"

namespace railhead::host {
namespace {

std::string nested(std::uint16_t type, const std::string& attributes) {
  return netlink_attribute(static_cast<std::uint16_t>(type | NLA_F_NESTED), attributes);
}

std::string mac_attribute(std::uint32_t vf, const std::array<std::uint8_t, 6>& mac) {
  ifla_vf_mac value{};
  value.vf = vf;
  std::copy(mac.begin(), mac.end(), value.mac);
  return netlink_attribute(IFLA_VF_MAC, netlink_bytes(value));
}

std::string guid_attribute(std::uint16_t type, std::uint32_t vf, std::uint64_t guid) {
  ifla_vf_guid value{};
  value.vf = vf;
  value.guid = guid;
  return netlink_attribute(type, netlink_bytes(value));
}

std::string follow_attribute(std::uint32_t vf) {
  const ifla_vf_link_state value{vf, IFLA_VF_LINK_STATE_AUTO};
  return netlink_attribute(IFLA_VF_LINK_STATE, netlink_bytes(value));
}

/// The kernel's answer to a request with NLM_F_ACK: 0, or an errno.
int acknowledged(int descriptor, std::uint32_t sequence) {
  const auto deadline = std::chrono::steady_clock::now() + kNetlinkTimeLimit;
  std::string datagram;
  for (;;) {
    if (const int failed = receive_netlink(descriptor, deadline, datagram)) return failed;
    std::string_view rest = datagram;
    while (const auto message = take_netlink_message(rest)) {
      if (message->sequence != sequence || message->type != NLMSG_ERROR) continue;
      const auto code = netlink_number<std::uint32_t>(message->payload.substr(0, 4));
      return code ? -static_cast<int>(*code) : EPROTO;
    }
  }
}

}  // namespace

std::optional<std::array<std::uint8_t, 6>> parse_mac(std::string_view text) {
  std::array<std::uint8_t, 6> mac{};
  if (text.size() != 17) return std::nullopt;
  for (std::size_t i = 0; i < 17; ++i) {
    if (i % 3 == 2) {
      if (text[i] != ':') return std::nullopt;
      continue;
    }
    const int value = hex_value(text[i]);
    if (value < 0) return std::nullopt;
    mac[i / 3] = static_cast<std::uint8_t>(mac[i / 3] * 16 + value);
  }
  return mac;
}

std::string vf_identity_request(unsigned interface_index, std::uint32_t vf,
                                const VfIdentity& identity, std::uint32_t sequence) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = static_cast<int>(interface_index);
  std::string info;
  if (identity.mac) info += mac_attribute(vf, *identity.mac);
  if (identity.guid) {
    info += guid_attribute(IFLA_VF_IB_NODE_GUID, vf, *identity.guid);
    info += guid_attribute(IFLA_VF_IB_PORT_GUID, vf, *identity.guid);
    info += follow_attribute(vf);
  }
  return netlink_message(
      RTM_SETLINK, NLM_F_REQUEST | NLM_F_ACK, sequence,
      netlink_bytes(header) + nested(IFLA_VFINFO_LIST, nested(IFLA_VF_INFO, info)));
}

Status set_vf_identity(const std::string& netdev, std::uint32_t vf, const VfIdentity& identity) {
  const std::string what = netdev + ": VF " + std::to_string(vf);
  const unsigned index = ::if_nametoindex(netdev.c_str());
  if (index == 0) return host_error(what, errno);
  const UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!descriptor) return host_error(what, errno);
  const std::string request = vf_identity_request(index, vf, identity, 1);
  if (::send(descriptor.get(), request.data(), request.size(), 0) < 0)
    return host_error(what, errno);
  const int failed = acknowledged(descriptor.get(), 1);
  return failed == 0 ? Status() : Status(host_error(what, failed));
}

}  // namespace railhead::host
