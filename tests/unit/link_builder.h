// SPDX-License-Identifier: Apache-2.0
//
// What the kernel's ethtool and DCB netlink say of a netdev, for tests. The numbers are those of
// Linux include/uapi/linux/{ethtool_netlink,dcbnl}.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "unit/netlink_builder.h"

namespace railhead::test {

constexpr unsigned kGetDcb = 78;  // RTM_GETDCB

/// An answer of the family "ethtool": the netdev, then the numbers; of a switch one byte.
inline std::string ethtool_answer(unsigned command, const std::string& numbers) {
  return message(0x15,
                 raw(static_cast<std::uint8_t>(command)) + raw(std::uint8_t{1}) +
                     raw(std::uint16_t{0}) + attribute(1, text_attribute(2, "ens8f0")) + numbers,
                 0, 2);
}

/// ETHTOOL_MSG_RINGS_GET_REPLY with what there can be at most.
inline std::string rings_answer(unsigned rx, unsigned tx, unsigned most = 8192) {
  return ethtool_answer(15, u32(2, most) + u32(5, most) + u32(6, rx) + u32(9, tx));
}

inline std::string coalesce_answer(bool adaptive, unsigned usecs) {
  return ethtool_answer(19, u32(2, usecs) + u8(11, adaptive ? 1 : 0));
}

inline std::string pause_answer(bool autoneg, bool rx, bool tx) {
  return ethtool_answer(21, u8(2, autoneg ? 1 : 0) + u8(3, rx ? 1 : 0) + u8(4, tx ? 1 : 0));
}

/// RTM_NEWLINK, with IFLA_VF_TRUST of one virtual function; 0xffffffff: its driver has none.
inline std::string trust_answer(std::uint32_t vf, std::uint32_t setting) {
  const std::string info = attribute(1, attribute(9, raw(vf) + raw(setting)));
  return message(16, std::string(16, '\0') + attribute(22, info), 0, 1);
}

using EightBytes = std::array<unsigned, 8>;

inline std::string eight(const EightBytes& numbers) {
  std::string bytes;
  for (const auto number : numbers) bytes += raw(static_cast<std::uint8_t>(number));
  return bytes;
}

/// struct ieee_ets: willing, capacity, cbs; bandwidth of sending and receiving, tsa, priorities;
/// three that are recommended.
inline std::string ets_object(const EightBytes& prio_tc, const EightBytes& tsa,
                              const EightBytes& bandwidth) {
  const EightBytes none{};
  return attribute(1, std::string("\0\x08\0", 3) + eight(bandwidth) + eight(none) + eight(tsa) +
                          eight(prio_tc) + eight(none) + eight(none) + eight(none));
}

/// struct ieee_pfc: capacity, priorities, mbc, a byte, delay; counters of each priority.
inline std::string pfc_object(unsigned priorities, unsigned capacity = 8) {
  return attribute(2, raw(static_cast<std::uint8_t>(capacity)) +
                          raw(static_cast<std::uint8_t>(priorities)) + std::string(4, '\0') +
                          raw(std::uint16_t{7}) + std::string(128, '\1'));
}

/// struct dcb_app: selector (5 is DSCP), priority, protocol.
inline std::string app_object(unsigned selector, unsigned priority, unsigned protocol) {
  return attribute(1, raw(static_cast<std::uint8_t>(selector)) +
                          raw(static_cast<std::uint8_t>(priority)) +
                          raw(static_cast<std::uint16_t>(protocol)));
}

inline std::string dcb_answer(const std::string& objects, unsigned command = 21) {
  return message(kGetDcb,
                 raw(std::uint8_t{0}) + raw(static_cast<std::uint8_t>(command)) +
                     raw(std::uint16_t{0}) + text_attribute(1, "ens8f0") + attribute(13, objects),
                 0, 1);
}

}  // namespace railhead::test
