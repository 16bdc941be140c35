// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace railhead {

/// The value of a hexadecimal digit, -1 for any other character.
constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool is_hex(char c) {
  return hex_value(c) >= 0;
}

}  // namespace railhead
