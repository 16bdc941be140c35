// SPDX-License-Identifier: Apache-2.0
#include "pools/address_prefix.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/text.h"

namespace railhead::pools {
namespace {

constexpr unsigned kMappedBits = 96;  // before the IPv4 address in ::ffff:a.b.c.d

/// An IPv4 address in its mapped form; `text` needs a terminating zero for inet_pton.
std::optional<std::array<std::uint8_t, 16>> parse_address(const std::string& text) {
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes = {};
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + kMappedBits / 8) != 1) return std::nullopt;
  bytes[10] = bytes[11] = 0xff;
  return bytes;
}

/// The same of a GID as sysfs prints it, eight groups of four digits: quicker by ten times, and a
/// thousand VFs have several thousand.
std::optional<std::array<std::uint8_t, 16>> parse_gid(std::string_view gid) {
  constexpr std::size_t kLength = 39;
  if (gid.size() != kLength) return std::nullopt;
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto at = i / 2 * 5 + i % 2 * 2;
    const char* digits = gid.data() + at;
    if (at > 0 && i % 2 == 0 && gid[at - 1] != ':') return std::nullopt;
    const auto [end, error] = std::from_chars(digits, digits + 2, bytes[i], 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
  }
  return bytes;
}

}  // namespace

Result<AddressPrefix> AddressPrefix::parse(std::string_view text) {
  const auto slash = text.find('/');
  const std::string address(text.substr(0, slash));
  const auto bytes = parse_address(address);
  const bool four = address.find(':') == std::string::npos;
  const unsigned most = four ? 128 - kMappedBits : 128;
  const auto length = slash == std::string_view::npos ? Result<std::uint64_t>(std::uint64_t{most})
                                                      : parse_unsigned(text.substr(slash + 1));
  if (!bytes || !length || *length > most || address.find('\0') != std::string::npos) {
    return Error{ErrorCode::malformed, in_quotes(text) + " is not a subnet such as 10.1.0.0/16"};
  }
  return AddressPrefix(*bytes, static_cast<unsigned>(*length) + (four ? kMappedBits : 0));
}

bool AddressPrefix::covers(std::string_view gid) const {
  auto bytes = parse_gid(gid);
  if (!bytes) bytes = parse_address(std::string(gid));
  if (!bytes) return false;
  const unsigned whole = bits_ / 8;
  if (!std::equal(bytes_.begin(), bytes_.begin() + whole, bytes->begin())) return false;
  const unsigned rest = bits_ % 8;
  return rest == 0 || ((bytes_[whole] ^ (*bytes)[whole]) >> (8 - rest)) == 0;
}

}  // namespace railhead::pools
