// SPDX-License-Identifier: Apache-2.0
#include "host/netdev_netlink.h"

#include <linux/dcbnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "host/host_error.h"
#include "host/netlink.h"
#include "host/netlink_socket.h"
#include "host/unique_fd.h"

namespace railhead::host {
namespace {

constexpr std::size_t kMaxFunctions = 4096;
constexpr std::size_t kNameBytes = 16;  ///< IFNAMSIZ

/// A nested attribute has 16 bits for its length.
void append_if_room(std::string& to, const std::string& part) {
  constexpr std::size_t kRoom = 60'000;
  if (to.size() + part.size() <= kRoom) to += part;
}

std::string nest(std::uint16_t type, const std::string& attributes) {
  return attributes.empty() ? "" : netlink_attribute(type, attributes);
}

std::string name_attribute(std::uint16_t type, std::string_view name) {
  return netlink_attribute(type, std::string(name) + '\0');
}

std::size_t header_bytes(NetdevQuestion question) {
  return question == NetdevQuestion::vfs ? sizeof(ifinfomsg) : sizeof(dcbmsg);
}

/// What the kernel answers by: a new link, or the question's own type.
std::uint16_t answer_type(NetdevQuestion question) {
  return question == NetdevQuestion::vfs ? RTM_NEWLINK : RTM_GETDCB;
}

/// Behind the header of an answer; nothing for what is none.
std::optional<std::string_view> attributes_in(NetdevQuestion question, std::string_view bytes) {
  const auto message = take_netlink_message(bytes);
  if (!message || message->type != answer_type(question)) return std::nullopt;
  if (message->payload.size() < header_bytes(question)) return std::nullopt;
  return message->payload.substr(header_bytes(question));
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
  return nest(IFLA_VF_INFO, kept);
}

std::string kept_pfc(std::string_view payload) {
  const auto pfc = value_of<ieee_pfc>(payload);
  if (!pfc) return "";
  ieee_pfc kept{};
  kept.pfc_en = pfc->pfc_en;
  return netlink_attribute(DCB_ATTR_IEEE_PFC, netlink_bytes(kept));
}

std::string kept_ets(std::string_view payload) {
  const auto ets = value_of<ieee_ets>(payload);
  if (!ets) return "";
  ieee_ets kept{};
  std::copy(std::begin(ets->prio_tc), std::end(ets->prio_tc), std::begin(kept.prio_tc));
  return netlink_attribute(DCB_ATTR_IEEE_ETS, netlink_bytes(kept));
}

bool is_dscp(const dcb_app& app) {
  constexpr std::uint16_t kDscps = 64;
  return app.selector == IEEE_8021QAZ_APP_SEL_DSCP && app.protocol < kDscps && app.priority < 8;
}

std::string kept_table(std::string_view payload) {
  std::string kept;
  for_each_attribute_in(payload, [&](const NetlinkAttribute& attribute) {
    const auto app = value_of<dcb_app>(attribute.payload);
    if (attribute.type != DCB_ATTR_IEEE_APP || !app || !is_dscp(*app)) return;
    append_if_room(kept, netlink_attribute(DCB_ATTR_IEEE_APP, netlink_bytes(*app)));
  });
  return nest(DCB_ATTR_IEEE_APP_TABLE, kept);
}

/// Calls `use` with each attribute below DCB_ATTR_IEEE.
template <typename Use>
void for_each_of_ieee(std::string_view attributes, Use use) {
  for_each_attribute_in(attributes, [&](const NetlinkAttribute& outer) {
    if (outer.type == DCB_ATTR_IEEE) for_each_attribute_in(outer.payload, use);
  });
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

}  // namespace

std::string netdev_request(NetdevQuestion question, std::string_view name, std::uint32_t sequence) {
  if (question == NetdevQuestion::vfs) {
    ifinfomsg header{};
    header.ifi_family = AF_UNSPEC;
    const std::uint32_t wanted = RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS;
    return netlink_message(RTM_GETLINK, NLM_F_REQUEST, sequence,
                           netlink_bytes(header) + name_attribute(IFLA_IFNAME, name) +
                               netlink_attribute(IFLA_EXT_MASK, netlink_bytes(wanted)));
  }
  dcbmsg header{};
  header.dcb_family = AF_UNSPEC;
  header.cmd = DCB_CMD_IEEE_GET;
  return netlink_message(RTM_GETDCB, NLM_F_REQUEST, sequence,
                         netlink_bytes(header) + name_attribute(DCB_ATTR_IFNAME, name));
}

std::optional<NetdevReply> take_netdev_reply(NetdevQuestion question, std::string_view datagram,
                                             std::uint32_t sequence) {
  while (!datagram.empty()) {
    const auto whole = datagram;
    const auto message = take_netlink_message(datagram);
    if (!message) return NetdevReply{EPROTO, ""};
    if (message->sequence != sequence) continue;
    if (message->type == NLMSG_ERROR) {
      const auto code = netlink_number<std::uint32_t>(message->payload.substr(0, 4));
      if (!code) return NetdevReply{EPROTO, ""};
      if (*code != 0) return NetdevReply{static_cast<int>(~*code + 1), ""};
    } else if (message->type == answer_type(question)) {
      return NetdevReply{0, std::string(whole.substr(0, whole.size() - datagram.size()))};
    }
  }
  return std::nullopt;
}

std::string kept_of_netdev(NetdevQuestion question, std::string_view message) {
  const auto attributes = attributes_in(question, message);
  if (!attributes) return "";
  std::string kept(header_bytes(question), '\0');
  if (question == NetdevQuestion::vfs) {
    std::string functions;
    for_each_function(*attributes,
                      [&](std::string_view one) { append_if_room(functions, kept_function(one)); });
    kept += nest(IFLA_VFINFO_LIST, functions);
  } else {
    std::string ieee;
    for_each_of_ieee(*attributes, [&](const NetlinkAttribute& attribute) {
      switch (attribute.type) {
        case DCB_ATTR_IEEE_PFC: append_if_room(ieee, kept_pfc(attribute.payload)); break;
        case DCB_ATTR_IEEE_ETS: append_if_room(ieee, kept_ets(attribute.payload)); break;
        case DCB_ATTR_IEEE_APP_TABLE: append_if_room(ieee, kept_table(attribute.payload)); break;
        default: break;
      }
    });
    kept += nest(DCB_ATTR_IEEE, ieee);
  }
  return netlink_message(answer_type(question), 0, 0, kept);
}

Result<std::vector<VfSettings>> parse_vf_settings(std::string_view message) {
  const auto attributes = attributes_in(NetdevQuestion::vfs, message);
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

Result<DcbSettings> parse_dcb_settings(std::string_view message) {
  const auto attributes = attributes_in(NetdevQuestion::dcb, message);
  if (!attributes) return Error{ErrorCode::malformed, "not a message about flow control"};
  DcbSettings settings;
  for_each_of_ieee(*attributes, [&](const NetlinkAttribute& attribute) {
    if (attribute.type == DCB_ATTR_IEEE_PFC) {
      if (const auto pfc = value_of<ieee_pfc>(attribute.payload)) settings.pfc = pfc->pfc_en;
    } else if (attribute.type == DCB_ATTR_IEEE_ETS) {
      const auto ets = value_of<ieee_ets>(attribute.payload);
      if (!ets) return;
      settings.traffic_class.emplace();
      std::copy_n(std::begin(ets->prio_tc), 8, settings.traffic_class->begin());
    } else if (attribute.type == DCB_ATTR_IEEE_APP_TABLE) {
      for_each_attribute_in(attribute.payload, [&](const NetlinkAttribute& entry) {
        const auto app = value_of<dcb_app>(entry.payload);
        if (entry.type != DCB_ATTR_IEEE_APP || !app || !is_dscp(*app)) return;
        settings.dscp[static_cast<std::uint8_t>(app->protocol)] = app->priority;
      });
    }
  });
  return settings;
}

Result<std::optional<std::string>> ask_netdev(NetdevQuestion question, const std::string& name) {
  constexpr std::uint32_t kSequence = 1;
  const auto path = netdev_answer_path(question, name);
  if (name.size() >= kNameBytes) return kAbsent;
  const auto deadline = std::chrono::steady_clock::now() + kNetlinkTimeLimit;
  const UniqueFd descriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!descriptor) {
    const bool none = errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT;
    return none ? Result<std::optional<std::string>>(kAbsent) : host_error(path, errno);
  }
  const auto request = netdev_request(question, name, kSequence);
  if (::send(descriptor.get(), request.data(), request.size(), 0) < 0) {
    return host_error(path, errno);
  }
  std::string datagram;
  for (;;) {
    if (const int failed = receive_netlink(descriptor.get(), deadline, datagram)) {
      return host_error(path, failed);
    }
    const auto reply = take_netdev_reply(question, datagram, kSequence);
    if (!reply) continue;
    if (reply->error_number == ENODEV || reply->error_number == EOPNOTSUPP) return kAbsent;
    if (reply->error_number != 0) return host_error(path, reply->error_number);
    return std::optional(kept_of_netdev(question, reply->message));
  }
}

}  // namespace railhead::host
