// SPDX-License-Identifier: Apache-2.0
#include "node/pci.h"

#include <array>
#include <cstdio>

#include "base/text.h"

namespace railhead {
namespace {

/// A hexadecimal field of fewest to most digits, or nothing. parse_hex alone would accept "0x1".
std::optional<std::uint32_t> hex_field(std::string_view text, std::size_t fewest,
                                       std::size_t most) {
  if (text.size() < fewest || text.size() > most || text.starts_with("0x") ||
      text.starts_with("0X")) {
    return std::nullopt;
  }
  const auto number = parse_hex(text);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

Result<PciAddress> PciAddress::parse(std::string_view text) {
  const Error not_an_address{ErrorCode::malformed, quoted(text) + " is not a PCI address"};
  const auto parts = split(text, ':');
  if (parts.size() != 2 && parts.size() != 3) return not_an_address;
  const auto dot = parts.back().find('.');
  if (dot == std::string_view::npos) return not_an_address;

  const auto domain = parts.size() == 3 ? hex_field(parts[0], 1, 8) : 0U;
  const auto bus = hex_field(parts[parts.size() - 2], 2, 2);
  const auto device = hex_field(parts.back().substr(0, dot), 2, 2);
  const auto function = hex_field(parts.back().substr(dot + 1), 1, 1);
  if (!domain || !bus || !device || !function || *device > 0x1f || *function > 7) {
    return not_an_address;
  }
  return PciAddress{*domain, static_cast<std::uint8_t>(*bus), static_cast<std::uint8_t>(*device),
                    static_cast<std::uint8_t>(*function)};
}

std::string PciAddress::str() const {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", domain,
                                   unsigned{bus}, unsigned{device}, unsigned{function});
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace railhead
