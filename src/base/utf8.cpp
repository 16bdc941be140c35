// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <algorithm>
#include <array>

namespace railhead {

Utf8Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kFirst = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kFirst[bytes] || code > 0x10ffff || is_surrogate) return {};
  return {code, bytes, true};
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

bool is_obeyed(char32_t code) {
  struct Range {
    char32_t first;
    char32_t last;
  };

  constexpr std::array kObeyed = {
      Range{0x061c, 0x061c}, Range{0x180e, 0x180e}, Range{0x200b, 0x200f}, Range{0x2028, 0x202e},
      Range{0x2060, 0x206f}, Range{0xfeff, 0xfeff}, Range{0xfff9, 0xfffb}, Range{0xe0000, 0xe007f}};
  return is_control(code) || std::ranges::any_of(kObeyed, [code](const Range& range) {
           return code >= range.first && code <= range.last;
         });
}

std::string_view whole_characters(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const auto is_inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
  };
  while (bytes > 0 && is_inside(bytes)) --bytes;
  return text.substr(0, bytes);
}

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const auto first = first_character(text);
    if (!first.is_valid || is_control(first.code)) return false;
    text.remove_prefix(first.bytes);
  }
  return true;
}

}  // namespace railhead
