// SPDX-License-Identifier: Apache-2.0
#include "host/vf_netlink.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

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

std::string link_header(unsigned interface_index) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = static_cast<int>(interface_index);
  return netlink_bytes(header);
}

/// RTM_SETLINK with what is said of one virtual function.
std::string change_of(unsigned interface_index, const std::string& info, std::uint32_t sequence) {
  return netlink_message(
      RTM_SETLINK, NLM_F_REQUEST | NLM_F_ACK, sequence,
      link_header(interface_index) + nested(IFLA_VFINFO_LIST, nested(IFLA_VF_INFO, info)));
}

void add_trust(std::string_view info, VfTrust& found) {
  while (const auto attribute = take_netlink_attribute(info)) {
    ifla_vf_trust trust{};
    if (attribute->type != IFLA_VF_TRUST || attribute->payload.size() != sizeof trust) continue;
    std::memcpy(&trust, attribute->payload.data(), sizeof trust);
    // Of a driver that has none, the kernel says -1.
    if (trust.setting <= 1) found[trust.vf] = trust.setting == 1;
  }
}

Status send_change(const std::string& netdev, std::uint32_t vf,
                   const std::function<std::string(unsigned index)>& make) {
  const std::string what = netdev + ": VF " + std::to_string(vf);
  const unsigned index = ::if_nametoindex(netdev.c_str());
  if (index == 0) return host_error(what, errno);
  const UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!descriptor) return host_error(what, errno);
  const std::string request = make(index);
  if (::send(descriptor.get(), request.data(), request.size(), 0) < 0)
    return host_error(what, errno);
  const int failed = await_acknowledgement(descriptor.get(), 1);
  return failed == 0 ? Status() : Status(host_error(what, failed));
}

}  // namespace

std::optional<std::array<std::uint8_t, 6>> parse_mac(std::string_view text) {
  std::array<std::uint8_t, 6> mac{};
  if (text.size() != 17) return std::nullopt;
  for (std::size_t i = 0; i < 17; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (i % 3 == 2) {
      if (c != ':') return std::nullopt;
      continue;
    }
    const auto lower = c >= 'A' && c <= 'F' ? c + 32 : c;
    const bool is_digit = lower >= '0' && lower <= '9';
    if (!is_digit && (lower < 'a' || lower > 'f')) return std::nullopt;
    const int value = is_digit ? lower - '0' : lower - 'a' + 10;
    mac[i / 3] = static_cast<std::uint8_t>(mac[i / 3] * 16 + value);
  }
  return mac;
}

std::string vf_identity_request(unsigned interface_index, std::uint32_t vf,
                                const VfIdentity& identity, std::uint32_t sequence) {
  std::string info;
  if (identity.mac) info += mac_attribute(vf, *identity.mac);
  if (identity.guid) {
    info += guid_attribute(IFLA_VF_IB_NODE_GUID, vf, *identity.guid);
    info += guid_attribute(IFLA_VF_IB_PORT_GUID, vf, *identity.guid);
    info += follow_attribute(vf);
  }
  return change_of(interface_index, info, sequence);
}

std::string vf_question(unsigned interface_index, std::uint32_t sequence) {
  const std::uint32_t what = RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS;
  return netlink_message(
      RTM_GETLINK, NLM_F_REQUEST, sequence,
      link_header(interface_index) + netlink_attribute(IFLA_EXT_MASK, netlink_bytes(what)));
}

Result<VfTrust> parse_vf_trust(std::string_view bytes) {
  const auto message = take_netlink_message(bytes);
  if (!message || message->type != RTM_NEWLINK || message->payload.size() < sizeof(ifinfomsg))
    return Error{ErrorCode::malformed, "not a message of a netdev"};
  VfTrust found;
  auto attributes = message->payload.substr(sizeof(ifinfomsg));
  while (const auto attribute = take_netlink_attribute(attributes)) {
    if (attribute->type != IFLA_VFINFO_LIST) continue;
    auto list = attribute->payload;
    while (const auto info = take_netlink_attribute(list)) add_trust(info->payload, found);
  }
  return found;
}

std::string vf_trust_request(unsigned interface_index, std::uint32_t vf, bool is_trusted,
                             std::uint32_t sequence) {
  const ifla_vf_trust value{vf, is_trusted ? 1U : 0U};
  return change_of(interface_index, netlink_attribute(IFLA_VF_TRUST, netlink_bytes(value)),
                   sequence);
}

Result<std::optional<std::string>> ask_vfs(const std::string& netdev) {
  const unsigned index = ::if_nametoindex(netdev.c_str());
  if (index == 0) return host_error(netdev + ": VFs", errno);
  std::string answer;
  int error_number = 0;
  const int failed = exchange_netlink(vf_question(index, 1), [&](std::string_view datagram) {
    auto rest = datagram;
    while (const auto message = take_netlink_message(rest)) {
      if (message->sequence != 1) continue;
      error_number = netlink_error(*message).value_or(0);
      answer = datagram;
      return true;
    }
    return false;
  });
  const int number = failed != 0 ? failed : error_number;
  if (number == 0) return std::optional(std::move(answer));
  return host_error(netdev + ": VFs", number);
}

Status set_vf_trust(const std::string& netdev, std::uint32_t vf, bool is_trusted) {
  return send_change(netdev, vf,
                     [&](unsigned index) { return vf_trust_request(index, vf, is_trusted, 1); });
}

Status set_vf_identity(const std::string& netdev, std::uint32_t vf, const VfIdentity& identity) {
  return send_change(netdev, vf,
                     [&](unsigned index) { return vf_identity_request(index, vf, identity, 1); });
}

}  // namespace railhead::host
