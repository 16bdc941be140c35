// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says of a netdev by ethtool's, DCB's and routing netlink, for tests. The numbers
// are those of Linux include/uapi/linux/{ethtool_netlink,dcbnl,if_link}.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

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

/// What is said of a virtual function.
struct VfAnswer {
  std::uint32_t number = 0;
  std::uint32_t link = 0;   ///< 0 follows, 1 always up, 2 always down
  std::uint32_t trust = 0;  ///< all ones: not known
  std::optional<std::uint64_t> node_guid{};
};

/// An answer to RTM_GETLINK with RTEXT_FILTER_VF.
inline std::string vf_answer(const VfAnswer& vf) {
  const auto pair = [&](unsigned type, std::uint32_t value) {
    return attribute(type, raw(vf.number) + raw(value));
  };
  auto info = attribute(1, raw(vf.number) + "\x02\x42\x0a\x01\x02\x03" + std::string(26, '\0'));
  info += pair(4, 0xffffffff) + pair(5, vf.link) + pair(9, vf.trust);
  if (vf.node_guid) {
    for (const unsigned type : {10U, 11U}) {
      info += attribute(type, raw(vf.number) + raw(std::uint32_t{0}) + raw(*vf.node_guid));
    }
  }
  const auto list = attribute(22, attribute(1, info));
  return message(16, std::string(16, '\0') + text_attribute(3, "ib0") + list, 0, 1);
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

/// The same with PFC, a class for each priority, and DSCP to priority; and an application that is
/// none of DSCP.
inline std::string flow_answer(unsigned pfc, const std::map<unsigned, unsigned>& dscp) {
  std::string table;
  for (const auto& [code, priority] : dscp) table += app_object(5, priority, code);
  table += app_object(1, 4, 0x8915);
  return dcb_answer(ets_object({0, 1, 2, 3, 4, 5, 6, 7}, {}, {}) + pfc_object(pfc) +
                    attribute(3, table));
}

}  // namespace railhead::test
