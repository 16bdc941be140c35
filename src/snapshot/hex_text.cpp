// SPDX-License-Identifier: Apache-2.0
#include "snapshot/hex_text.h"

#include "base/text.h"

namespace railhead::snapshot {

std::string hex_of_bytes(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += to_hex(static_cast<unsigned char>(c), 2);
  return text;
}

std::optional<std::string> bytes_of_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace railhead::snapshot
