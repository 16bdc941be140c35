// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_guid.h"

#include <array>
#include <cstdio>

#include "base/text.h"

namespace railhead {

std::optional<std::string> guid_from_nccl(std::string_view text) {
  const auto number = parse_hex(text);
  if (!number || *number == 0) return std::nullopt;
  const auto group = [&](unsigned at) {
    const auto first = static_cast<unsigned>(*number >> (16 * at) & 0xff);
    const auto second = static_cast<unsigned>(*number >> (16 * at + 8) & 0xff);
    return first << 8 | second;
  };
  std::array<char, 32> guid{};
  std::snprintf(guid.data(), guid.size(), "%04x:%04x:%04x:%04x", group(0), group(1), group(2),
                group(3));
  return guid.data();
}

}  // namespace railhead
