// SPDX-License-Identifier: Apache-2.0
#include "node/pci.h"

#include "base/text.h"

namespace railhead::node {
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

std::optional<PciAddress> pci_address_of(std::string_view text) {
  const auto dot = text.rfind('.');
  const auto colon = text.rfind(':');
  if (dot == std::string_view::npos || colon == std::string_view::npos || dot < colon) {
    return std::nullopt;
  }
  auto bus_text = text.substr(0, colon);
  std::optional<std::uint32_t> domain = 0;
  const auto first = bus_text.find(':');
  if (first != std::string_view::npos) {
    domain = hex_field(bus_text.substr(0, first), 1, 8);
    bus_text.remove_prefix(first + 1);
  }
  const auto bus = hex_field(bus_text, 2, 2);
  const auto device = hex_field(text.substr(colon + 1, dot - colon - 1), 2, 2);
  const auto function = hex_field(text.substr(dot + 1), 1, 1);
  if (!domain || !bus || !device || !function || *device > 0x1f || *function > 7) {
    return std::nullopt;
  }
  return PciAddress{*domain, static_cast<std::uint8_t>(*bus), static_cast<std::uint8_t>(*device),
                    static_cast<std::uint8_t>(*function)};
}

Result<PciAddress> PciAddress::parse(std::string_view text) {
  if (const auto address = pci_address_of(text)) return *address;
  return Error{ErrorCode::malformed, in_quotes(text) + " is not a PCI address"};
}

std::string PciAddress::str() const {
  unsigned digits = 4;  // as the kernel's %04x: a domain may have more
  while (digits < 8 && domain >> (4 * digits) != 0) ++digits;
  std::string text;
  append_hex(text, domain, digits);
  text += ':';
  append_hex(text, bus, 2);
  text += ':';
  append_hex(text, device, 2);
  text += '.';
  append_hex(text, function, 1);
  return text;
}

}  // namespace railhead::node
