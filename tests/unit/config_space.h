// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace railhead::test {

/// PCI_EXP_TYPE_*: what a function is on its link.
enum class Express : std::uint16_t { endpoint = 0x00, root = 0x40, upstream = 0x50, down = 0x60 };

/// A configuration space that a test builds: every register that the program looks at.
struct ConfigSpace {
  std::uint16_t device_control = 0;
  std::uint16_t acs_control = 0;
  Express express = Express::endpoint;
  std::uint16_t device_capability = 0x0022;  ///< payload of 512 bytes, eight bits of tags
  std::uint16_t link_capability = 0x0105;    ///< 32 GT/s, 16 lanes
  std::uint16_t link_status = 0x0105;
  bool has_acs = true;
  std::uint16_t ats_control = 0;
  bool has_ats = false;

  [[nodiscard]] std::string bytes() const {
    std::string space(4096, '\0');
    const auto word = [&](std::size_t at, std::uint16_t value) {
      space[at] = static_cast<char>(value & 0xff);
      space[at + 1] = static_cast<char>(value >> 8);
    };
    word(0x00, 0x15b3);
    word(0x06, 0x0010);  // there is a list of capabilities
    space[0x34] = 0x60;  // which begins here
    word(0x60, 0x0010);  // PCI Express, the last
    word(0x62, static_cast<std::uint16_t>(express));
    word(0x64, device_capability);
    word(0x68, device_control);
    word(0x6c, link_capability);
    word(0x72, link_status);
    word(0x100, 0x0001);  // Advanced Error Reporting, version 1, next 0x148
    word(0x102, 0x1481);
    word(0x148, has_acs ? 0x000d : 0x0003);  // ACS, version 1, or another; next is 0x160 or none
    word(0x14a, has_ats ? 0x1601 : 0x0001);
    word(0x14c, 0x005f);
    word(0x14e, acs_control);
    if (has_ats) {
      word(0x160, 0x000f);  // ATS, version 1, the last
      word(0x162, 0x0001);
      word(0x166, ats_control);
    }
    return space;
  }
};

/// Configuration space of a PCI Express function: Device Control, and ACS if it is a bridge's.
inline std::string config_space(std::uint16_t device_control, std::uint16_t acs_control = 0) {
  ConfigSpace space;
  space.device_control = device_control;
  space.acs_control = acs_control;
  return space.bytes();
}

}  // namespace railhead::test
