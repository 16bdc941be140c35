// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace railhead::test {

/// Configuration space of a PCI Express function: Device Control, and ACS if it is a bridge's.
inline std::string config_space(std::uint16_t device_control, std::uint16_t acs_control = 0) {
  std::string bytes(4096, '\0');
  const auto word = [&](std::size_t at, std::uint16_t value) {
    bytes[at] = static_cast<char>(value & 0xff);
    bytes[at + 1] = static_cast<char>(value >> 8);
  };
  word(0x00, 0x15b3);
  word(0x06, 0x0010);          // there is a list of capabilities
  bytes[0x34] = 0x60;          // which begins here
  word(0x60, 0x0010);          // PCI Express, the last
  word(0x68, device_control);  // Device Control
  word(0x100, 0x0001);         // Advanced Error Reporting, version 1, next 0x148
  word(0x102, 0x1481);
  word(0x148, 0x000d);  // ACS, version 1, the last
  word(0x14a, 0x0001);
  word(0x14c, 0x005f);
  word(0x14e, acs_control);
  return bytes;
}

}  // namespace railhead::test
