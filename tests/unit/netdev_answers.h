// SPDX-License-Identifier: Apache-2.0
//
// What the kernel answers about a netdev, for tests. The numbers are those of Linux
// include/uapi/linux/{if_link,dcbnl}.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "unit/netlink_builder.h"

namespace railhead::test {

/// An answer to DCB_CMD_IEEE_GET: PFC, and DSCP to priority.
inline std::string dcb_answer(std::uint8_t pfc, const std::map<unsigned, unsigned>& dscp,
                              std::uint32_t sequence = 1) {
  std::string flow(136, '\0');  // struct ieee_pfc: pfc_en is the second byte
  flow[0] = 8;
  flow[1] = static_cast<char>(pfc);
  flow[8] = 99;  // requests[0]
  std::string table;
  for (const auto& [code, priority] : dscp) {
    table += attribute(1, raw(std::uint8_t{5}) + raw(static_cast<std::uint8_t>(priority)) +
                              raw(static_cast<std::uint16_t>(code)));
  }
  table += attribute(1, raw(std::uint8_t{1}) + raw(std::uint8_t{4}) + raw(std::uint16_t{0x8915}));
  std::string ets(59, '\0');  // struct ieee_ets: prio_tc are the bytes 27 to 34
  for (int i = 0; i < 8; ++i) ets[27 + static_cast<std::size_t>(i)] = static_cast<char>(i);
  const auto ieee = attribute(1, ets) + attribute(2, flow) + attribute(3, table);
  const std::string header({0, 21, 0, 0});  // struct dcbmsg
  return message(78, header + text_attribute(1, "eth0") + attribute(13, ieee), 0, sequence);
}

/// What is said of a virtual function.
struct VfAnswer {
  std::uint32_t number = 0;
  std::uint32_t link = 0;   ///< 0 follows, 1 always up, 2 always down
  std::uint32_t trust = 0;  ///< all ones: not known
  std::optional<std::uint64_t> node_guid{};
};

/// An answer to RTM_GETLINK with RTEXT_FILTER_VF.
inline std::string vf_answer(const VfAnswer& vf, std::uint32_t sequence = 1) {
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
  return message(16, std::string(16, '\0') + text_attribute(3, "ib0") + list, 0, sequence);
}

}  // namespace railhead::test
