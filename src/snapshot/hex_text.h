// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/hex.h"

namespace railhead::snapshot {

/// Lower-case digits, two a byte.
std::string hex_of_bytes(std::string_view bytes);

/// Nothing where the text is not digits in pairs.
std::optional<std::string> bytes_of_hex(std::string_view text);

/// Gives the bytes of a text of hexadecimal digits (with ':' and '-' between them as they like) to
/// `change` and writes them back in their places, in the case that was there. False, and nothing
/// done, for any other text or number of bytes.
template <std::size_t kBytes, typename Change>
bool change_hex(std::span<char> text, Change change) {
  std::array<std::size_t, 2 * kBytes> places{};
  std::array<std::uint8_t, kBytes> bytes{};
  std::size_t digits = 0;
  bool upper = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' || text[i] == '-') continue;
    if (!is_hex(text[i]) || digits == places.size()) return false;
    upper = upper || (text[i] >= 'A' && text[i] <= 'F');
    auto& byte = bytes[digits / 2];
    byte = static_cast<std::uint8_t>(byte << 4U | hex_value(text[i]));
    places[digits++] = i;
  }
  if (digits != places.size()) return false;
  change(std::span<std::uint8_t, kBytes>(bytes));
  constexpr std::string_view kLower = "0123456789abcdef";
  constexpr std::string_view kUpper = "0123456789ABCDEF";
  for (std::size_t i = 0; i < places.size(); ++i) {
    const unsigned nibble = (bytes[i / 2] >> (i % 2 == 0 ? 4U : 0U)) & 0xfU;
    text[places[i]] = (upper ? kUpper : kLower)[nibble];
  }
  return true;
}

}  // namespace railhead::snapshot
