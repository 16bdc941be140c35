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

constexpr std::size_t kMaxFunctions = 4096;

/// Behind the header of an answer; nothing for what is none.
std::optional<std::string_view> attributes_of_link(std::string_view bytes) {
  const auto message = take_netlink_message(bytes);
  if (!message || message->type != RTM_NEWLINK || message->payload.size() < sizeof(ifinfomsg))
    return std::nullopt;
  return message->payload.substr(sizeof(ifinfomsg));
}

/// A nested attribute has 16 bits for its length.
void append_if_room(std::string& to, const std::string& part) {
  constexpr std::size_t kRoom = 60'000;
  if (to.size() + part.size() <= kRoom) to += part;
}

template <typename Use>
void for_each_attribute_in(std::string_view attributes, Use use) {
  while (const auto attribute = take_netlink_attribute(attributes)) use(*attribute);
}

template <typename T>
std::optional<T> value_of(std::string_view payload) {
  if (payload.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::copy_n(payload.data(), sizeof value, reinterpret_cast<char*>(&value));
  return value;
}

/// Calls `use` with the attributes of each IFLA_VF_INFO.
template <typename Use>
void for_each_function(std::string_view attributes, Use use) {
  for_each_attribute_in(attributes, [&](const NetlinkAttribute& list) {
    if (list.type != IFLA_VFINFO_LIST) return;
    for_each_attribute_in(list.payload, [&](const NetlinkAttribute& info) {
      if (info.type == IFLA_VF_INFO) use(info.payload);
    });
  });
}

/// A GUID as 1 where it is not zero.
std::string kept_guid(const NetlinkAttribute& attribute) {
  const auto guid = value_of<ifla_vf_guid>(attribute.payload);
  if (!guid) return "";
  ifla_vf_guid kept{};
  kept.vf = guid->vf;
  kept.guid = guid->guid == 0 ? 0 : 1;
  return netlink_attribute(attribute.type, netlink_bytes(kept));
}

std::string kept_function(std::string_view attributes) {
  std::string kept;
  for_each_attribute_in(attributes, [&](const NetlinkAttribute& attribute) {
    switch (attribute.type) {
      case IFLA_VF_LINK_STATE:
      case IFLA_VF_SPOOFCHK:
      case IFLA_VF_TRUST:
        // Two numbers each: the function, and the setting.
        if (const auto pair = value_of<ifla_vf_trust>(attribute.payload)) {
          kept += netlink_attribute(attribute.type, netlink_bytes(*pair));
        }
        break;
      case IFLA_VF_IB_NODE_GUID:
      case IFLA_VF_IB_PORT_GUID: kept += kept_guid(attribute); break;
      default: break;
    }
  });
  return kept.empty() ? "" : netlink_attribute(IFLA_VF_INFO, kept);
}

/// The number of the function, where an attribute says something of it that is known.
template <typename T>
std::optional<T> setting_of(const NetlinkAttribute& attribute, VfSettings& settings) {
  const auto value = value_of<T>(attribute.payload);
  if (value) settings.number = value->vf;
  return value;
}

std::optional<bool> flag_of(std::uint32_t setting) {
  if (setting > 1) return std::nullopt;  // -1: the driver does not know of it
  return setting == 1;
}

VfSettings settings_of(std::string_view attributes) {
  VfSettings settings;
  for_each_attribute_in(attributes, [&](const NetlinkAttribute& attribute) {
    switch (attribute.type) {
      case IFLA_VF_LINK_STATE:
        if (const auto link = setting_of<ifla_vf_link_state>(attribute, settings)) {
          if (link->link_state <= IFLA_VF_LINK_STATE_DISABLE)
            settings.link = static_cast<VfLink>(link->link_state);
        }
        break;
      case IFLA_VF_TRUST:
        if (const auto trust = setting_of<ifla_vf_trust>(attribute, settings))
          settings.trusted = flag_of(trust->setting);
        break;
      case IFLA_VF_SPOOFCHK:
        if (const auto check = setting_of<ifla_vf_spoofchk>(attribute, settings))
          settings.spoof_checked = flag_of(check->setting);
        break;
      case IFLA_VF_IB_NODE_GUID:
        if (const auto guid = setting_of<ifla_vf_guid>(attribute, settings))
          settings.has_node_guid = guid->guid != 0;
        break;
      case IFLA_VF_IB_PORT_GUID:
        if (const auto guid = setting_of<ifla_vf_guid>(attribute, settings))
          settings.has_port_guid = guid->guid != 0;
        break;
      default: break;
    }
  });
  return settings;
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

Result<std::vector<VfSettings>> parse_vf_settings(std::string_view message) {
  const auto attributes = attributes_of_link(message);
  if (!attributes) return Error{ErrorCode::malformed, "not a message about a link"};
  std::vector<VfSettings> functions;
  bool too_many = false;
  for_each_function(*attributes, [&](std::string_view one) {
    too_many = too_many || functions.size() == kMaxFunctions;
    if (!too_many) functions.push_back(settings_of(one));
  });
  if (too_many) return Error{ErrorCode::malformed, "more than 4096 virtual functions"};
  return functions;
}

std::string kept_of_vfs(std::string_view message) {
  const auto attributes = attributes_of_link(message);
  if (!attributes) return "";
  std::string functions;
  for_each_function(*attributes,
                    [&](std::string_view one) { append_if_room(functions, kept_function(one)); });
  std::string kept(sizeof(ifinfomsg), '\0');
  if (!functions.empty()) kept += netlink_attribute(IFLA_VFINFO_LIST, functions);
  return netlink_message(RTM_NEWLINK, 0, 0, kept);
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
  const int number = ask_netlink(vf_question(index, 1), 1, answer);
  if (number == 0) return std::optional(kept_of_vfs(answer));
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
