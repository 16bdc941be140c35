// SPDX-License-Identifier: Apache-2.0
//
// Frames of LLDP as a switch sends them, and the file in which systemd-networkd keeps them.
#pragma once

#include <cstdint>
#include <string>

namespace railhead::test {

inline std::string lldp_tlv(unsigned type, const std::string& value) {
  const auto head = type << 9U | static_cast<unsigned>(value.size());
  return std::string{static_cast<char>(head >> 8U), static_cast<char>(head & 0xffU)} + value;
}

inline std::string big_endian(unsigned value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value & 0xffU)};
}

inline std::string lldp_vlan(unsigned vlan) {
  return lldp_tlv(127, std::string("\x00\x80\xc2\x01", 4) + big_endian(vlan));
}

inline std::string lldp_max_frame(unsigned bytes) {
  return lldp_tlv(127, std::string("\x00\x12\x0f\x04", 4) + big_endian(bytes));
}

/// With a chassis address, a lifetime and the switch's name around what is said.
inline std::string lldp_frame(const std::string& port, const std::string& said) {
  return "\x01\x80\xc2" + std::string("\x00\x00\x0e", 3) + "sender" + "\x88\xcc" +
         lldp_tlv(1,
                  "\x04"
                  "macadr") +
         lldp_tlv(2, port) + lldp_tlv(3, big_endian(120)) + lldp_tlv(5, "leaf-7.example") + said +
         lldp_tlv(0, "");
}

inline std::string networkd_frame(const std::string& frame) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(frame.size() & 0xffU);
  length[1] = static_cast<char>(frame.size() >> 8U);
  return length + frame;
}

}  // namespace railhead::test
