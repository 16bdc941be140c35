// SPDX-License-Identifier: Apache-2.0
//
// What a switch says of its port by LLDP, where systemd-networkd listens: it keeps the frames of an
// interface's neighbours in /run/systemd/netif/lldp/<ifindex>, each behind its length (eight bytes,
// little-endian). Sources: systemd src/network/networkctl-lldp.c (next_lldp_neighbor), IEEE
// 802.1AB-2016 8 and annexes of 802.1Q (port VLAN) and 802.3 (largest frame).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::system {

/// A port of a switch. Absent: the switch does not say it.
struct SwitchPort {
  std::string port{};                   ///< "Ethernet1/7"; "" where it is an address, or odd
  std::optional<unsigned> vlan{};       ///< of frames without a tag
  std::optional<unsigned> max_frame{};  ///< bytes

  friend bool operator==(const SwitchPort&, const SwitchPort&) = default;
};

/// The file as lines of what is read of it, "port=Ethernet1/7 vlan=100 frame=9216", without names
/// and addresses of switches; what has this form stays as it is. A frame that is cut off, and what
/// stands behind it, is left out.
std::string kept_lldp(std::string_view content);

/// Those lines.
std::vector<SwitchPort> switch_ports(std::string_view kept);

}  // namespace railhead::system
