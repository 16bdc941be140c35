// SPDX-License-Identifier: Apache-2.0
//
// What dcb(8) sets of a netdev, by routing netlink. Invariants (Linux include/uapi/linux/dcbnl.h,
// net/dcb/dcbnl.c):
//   * a message begins with four bytes (family, command), then attributes: the netdev's name, and
//     DCB_ATTR_IEEE, which holds the objects of IEEE 802.1Q;
//   * an answer leaves out objects that the driver does not have, and EOPNOTSUPP is a driver
//     without DCB. A change of an object that it does not have changes nothing, and does not fail;
//   * a change answers with a byte in DCB_ATTR_IEEE: 0, or an errno, negated. It takes
//     CAP_NET_ADMIN;
//   * the application table may give one DSCP several priorities; a new one leaves the others
//     there;
//   * mlx5 trusts DSCP while the table has one, else the priority of the VLAN
//     (drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, mlx5e_dcbnl_ieee_setapp).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace railhead::host {

inline constexpr unsigned kPriorities = 8;
inline constexpr unsigned kDscps = 64;

/// How traffic classes share a port. tsa: 0 strict, 2 ETS, and others (struct ieee_ets).
struct Ets {
  std::array<std::uint8_t, kPriorities> priority_to_class{};
  std::array<std::uint8_t, kPriorities> tsa{};
  std::array<std::uint8_t, kPriorities> bandwidth{};  ///< percent, of classes with ETS

  friend bool operator==(const Ets&, const Ets&) = default;
};

struct DcbSettings {
  std::optional<std::uint8_t> pfc;   ///< a bit for each priority with Priority Flow Control
  std::optional<unsigned> pfc_most;  ///< how many priorities may have it at once; 0: not said
  std::optional<Ets> ets;
  /// Priorities of each DSCP that has one, a bit for each. Absent: there is no such table.
  std::optional<std::map<unsigned, std::uint8_t>> dscp;

  friend bool operator==(const DcbSettings&, const DcbSettings&) = default;
};

/// The priorities of a DSCP, a bit for each; of one that is not in the table priority 0.
std::uint8_t priorities_of(const DcbSettings& settings, unsigned dscp);

/// "3,4"; "none"
std::string priorities_text(std::uint8_t priorities);

/// Whether any DSCP has a priority.
bool maps_dscp(const DcbSettings& settings);

std::string dcb_request(std::string_view netdev, std::uint32_t sequence);

/// What an answer says. Malformed: bytes that are no such message.
Result<DcbSettings> parse_dcb(std::string_view message);

/// The same message with the objects above alone. Twice gives the same as once; "" for what is no
/// such message.
std::string kept_of_dcb(std::string_view message);

/// Changes; all but what is changed is sent as it was in `answer`, the last answer.
std::string pfc_change(std::string_view netdev, std::string_view answer, std::uint8_t priorities,
                       std::uint32_t sequence);
std::string ets_change(std::string_view netdev, std::string_view answer, const Ets& ets,
                       std::uint32_t sequence);
std::string dscp_change(std::string_view netdev, unsigned dscp, unsigned priority, bool is_added,
                        std::uint32_t sequence);

/// The errno in the answer to a change; 0: it is done. Absent: that is no such answer.
std::optional<int> dcb_status(std::string_view datagram, std::uint32_t sequence);

/// Asks the kernel that we run on; see Host::link_settings.
Result<std::optional<std::string>> ask_dcb(const std::string& netdev);

/// Each asks first, and changes then. An error names the netdev.
Status set_pfc(const std::string& netdev, std::uint8_t priorities);
Status set_ets(const std::string& netdev, const Ets& ets);
/// The DSCP has exactly these priorities, a bit for each; none: it is not in the table.
Status set_dscp(const std::string& netdev, unsigned dscp, std::uint8_t priorities);

}  // namespace railhead::host
