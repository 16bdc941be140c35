// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_guid.h"

#include <array>
#include <cstdio>

#include "base/text.h"

namespace railhead::topology {

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

std::optional<std::string> nccl_guid(std::string_view sysfs) {
  std::string digits(sysfs);
  std::erase(digits, ':');
  const auto number = parse_hex(digits);
  if (digits.size() != 16 || !number || *number == 0) return std::nullopt;
  std::uint64_t swapped = 0;
  for (unsigned byte = 0; byte < 8; ++byte) swapped = swapped << 8 | (*number >> 8 * byte & 0xff);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(swapped));
  return text.data();
}

}  // namespace railhead::topology
