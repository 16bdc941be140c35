// SPDX-License-Identifier: Apache-2.0
#include "host/ethtool_netlink.h"

#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>

#include <cerrno>

#include "base/find.h"
#include "host/generic_netlink.h"
#include "host/host_error.h"
#include "host/netlink.h"

namespace railhead::host {
namespace {

constexpr std::array<EthtoolField, 11> kFields{{
    {"rings.rx", LinkPart::rings, ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX},
    {"rings.tx", LinkPart::rings, ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX},
    {"coalesce.adaptive-rx", LinkPart::coalesce, ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, 0, true},
    {"coalesce.adaptive-tx", LinkPart::coalesce, ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX, 0, true},
    {"coalesce.rx-usecs", LinkPart::coalesce, ETHTOOL_A_COALESCE_RX_USECS},
    {"coalesce.rx-frames", LinkPart::coalesce, ETHTOOL_A_COALESCE_RX_MAX_FRAMES},
    {"coalesce.tx-usecs", LinkPart::coalesce, ETHTOOL_A_COALESCE_TX_USECS},
    {"coalesce.tx-frames", LinkPart::coalesce, ETHTOOL_A_COALESCE_TX_MAX_FRAMES},
    {"pause.autoneg", LinkPart::pause, ETHTOOL_A_PAUSE_AUTONEG, 0, true},
    {"pause.rx", LinkPart::pause, ETHTOOL_A_PAUSE_RX, 0, true},
    {"pause.tx", LinkPart::pause, ETHTOOL_A_PAUSE_TX, 0, true},
}};

struct Commands {
  std::uint8_t get = 0;
  std::uint8_t set = 0;
};

constexpr Commands commands_of(LinkPart part) {
  switch (part) {
    case LinkPart::rings: return {ETHTOOL_MSG_RINGS_GET, ETHTOOL_MSG_RINGS_SET};
    case LinkPart::coalesce: return {ETHTOOL_MSG_COALESCE_GET, ETHTOOL_MSG_COALESCE_SET};
    default: return {ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_PAUSE_SET};
  }
}

/// The number of the header's attribute is 1 in every message (ETHTOOL_A_RINGS_HEADER, …).
std::string netdev_header(std::string_view netdev) {
  return netlink_attribute(
      ETHTOOL_A_RINGS_HEADER | NLA_F_NESTED,
      netlink_attribute(ETHTOOL_A_HEADER_DEV_NAME, std::string(netdev) + '\0'));
}

std::string subject(const std::string& netdev, std::string_view what) {
  return netdev + ": " + std::string(what);
}

}  // namespace

const std::array<EthtoolField, 11>& ethtool_fields() {
  return kFields;
}

const EthtoolField* find_ethtool_field(std::string_view name) {
  return find_by(kFields, &EthtoolField::name, name);
}

std::string ethtool_request(LinkPart part, std::uint16_t family, std::string_view netdev,
                            std::uint32_t sequence) {
  return generic_request({family, commands_of(part).get, ETHTOOL_GENL_VERSION, false}, sequence,
                         netdev_header(netdev));
}

std::string ethtool_change(const EthtoolField& field, std::uint32_t value, std::uint16_t family,
                           std::string_view netdev, std::uint32_t sequence) {
  const std::string bytes =
      field.is_switch ? netlink_bytes(static_cast<std::uint8_t>(value)) : netlink_bytes(value);
  return generic_request({family, commands_of(field.part).set, ETHTOOL_GENL_VERSION, true},
                         sequence,
                         netdev_header(netdev) + netlink_attribute(field.attribute, bytes));
}

Result<EthtoolNumbers> parse_ethtool(std::string_view bytes) {
  const auto message = take_netlink_message(bytes);
  auto attributes = message ? generic_attributes(*message) : std::nullopt;
  if (!attributes) return Error{ErrorCode::malformed, "not a message of ethtool"};
  EthtoolNumbers numbers;
  while (const auto attribute = take_netlink_attribute(*attributes)) {
    if (attribute->type == ETHTOOL_A_RINGS_HEADER) continue;
    if (const auto number = netlink_number<std::uint32_t>(attribute->payload))
      numbers[attribute->type] = *number;
    if (const auto flag = netlink_number<std::uint8_t>(attribute->payload))
      numbers[attribute->type] = *flag;
  }
  if (!attributes->empty()) return Error{ErrorCode::malformed, "an attribute is cut off"};
  return numbers;
}

Result<std::optional<std::string>> ask_ethtool(const std::string& netdev, LinkPart part) {
  std::string answer;
  int error_number = 0;
  const auto question = [&](std::uint16_t family, std::uint32_t sequence) {
    return ethtool_request(part, family, netdev, sequence);
  };
  switch (ask_generic(ETHTOOL_GENL_NAME, question, answer, error_number)) {
    case GenericDatagram::answer: return std::optional(answer);
    case GenericDatagram::absent:
      if (error_number != ENODEV) return kAbsent;
      [[fallthrough]];
    default: return host_error(subject(netdev, "ethtool"), error_number);
  }
}

Status set_ethtool(const std::string& netdev, const EthtoolField& field, std::uint32_t value) {
  const int failed =
      change_generic(ETHTOOL_GENL_NAME, [&](std::uint16_t family, std::uint32_t sequence) {
        return ethtool_change(field, value, family, netdev, sequence);
      });
  return failed == 0 ? Status() : Status(host_error(subject(netdev, field.name), failed));
}

}  // namespace railhead::host
