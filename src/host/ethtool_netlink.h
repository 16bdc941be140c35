// SPDX-License-Identifier: Apache-2.0
//
// What ethtool(8) sets of a netdev, by generic netlink. Invariants (Linux
// include/uapi/linux/ethtool_netlink.h, net/ethtool/{netlink,rings,coalesce,pause}.c, since 5.7):
//   * the family is "ethtool"; each question and each change begins with a nested header that names
//     the netdev;
//   * an answer leaves out what the driver does not have; EOPNOTSUPP is a driver without all of it;
//   * a change holds what is to change only, takes CAP_NET_ADMIN, and is acknowledged: ERANGE or
//     EINVAL for what is too much, EOPNOTSUPP or EINVAL for what the driver does not have.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"

namespace railhead::host {

/// One number of a part, in the words of ethtool(8).
struct EthtoolField {
  std::string_view name;  ///< "rings.rx"
  LinkPart part = LinkPart::rings;
  std::uint16_t attribute = 0;
  std::uint16_t limit = 0;  ///< the attribute of the most that the driver takes; 0: none is said
  bool is_switch = false;   ///< 0 or 1, in one byte
};

/// In the order in which they are set: pause frames as negotiated overrule the others.
const std::array<EthtoolField, 11>& ethtool_fields();

/// Absent: there is no such field.
const EthtoolField* find_ethtool_field(std::string_view name);

/// Numbers by their attribute.
using EthtoolNumbers = std::map<std::uint16_t, std::uint32_t>;

std::string ethtool_request(LinkPart part, std::uint16_t family, std::string_view netdev,
                            std::uint32_t sequence);

std::string ethtool_change(const EthtoolField& field, std::uint32_t value, std::uint16_t family,
                           std::string_view netdev, std::uint32_t sequence);

/// The numbers in an answer. Malformed: bytes that are no such message.
Result<EthtoolNumbers> parse_ethtool(std::string_view message);

/// Asks the kernel that we run on; see Host::link_settings.
Result<std::optional<std::string>> ask_ethtool(const std::string& netdev, LinkPart part);

/// An error names the netdev and the field.
Status set_ethtool(const std::string& netdev, const EthtoolField& field, std::uint32_t value);

}  // namespace railhead::host
