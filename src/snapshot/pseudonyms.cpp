// SPDX-License-Identifier: Apache-2.0
#include "snapshot/pseudonyms.h"

#include <algorithm>

#include "base/text.h"

namespace railhead::snapshot {
namespace {

constexpr std::uint8_t kLocalBit = 0x02;  // locally administered, IEEE 802

std::uint64_t as_number(std::span<const std::uint8_t> bytes) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : bytes) number = number << 8U | byte;
  return number;
}

void put_number(std::span<std::uint8_t> bytes, std::uint64_t number) {
  for (std::size_t i = bytes.size(); i-- > 0; number >>= 8U) {
    bytes[i] = static_cast<std::uint8_t>(number & 0xffU);
  }
}

bool all_are(std::span<const std::uint8_t> bytes, std::uint8_t value) {
  return std::ranges::all_of(bytes, [value](auto byte) { return byte == value; });
}

/// The number of an original, the next one where it is met for the first time.
template <typename Original, typename... Compare>
std::uint32_t number_of(std::map<Original, std::uint32_t, Compare...>& numbers,
                        const Original& original) {
  const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
  return numbers.try_emplace(original, next).first->second;
}

/// The n-th /24 for stand-ins, n from 1.
std::array<std::uint8_t, 3> documentation_network(std::uint32_t n) {
  if (n == 1) return {192, 0, 2};
  if (n == 2) return {198, 51, 100};
  if (n == 3) return {203, 0, 113};
  n -= 4;
  const auto low = static_cast<std::uint8_t>(n & 0xffU);
  if (n < 512) return {198, static_cast<std::uint8_t>(18 + n / 256), low};
  return {10, static_cast<std::uint8_t>((n - 512) >> 8U & 0xffU), low};
}

}  // namespace

void Pseudonyms::vendor(std::span<std::uint8_t, 3> bytes, bool is_modified_eui64) {
  const bool bit = (bytes[0] & kLocalBit) != 0;
  if (bit == is_modified_eui64) return;  // a vendor's
  const std::uint8_t flags = bytes[0] & 0x03U;
  bytes[0] &= static_cast<std::uint8_t>(~kLocalBit);
  const std::uint32_t number = number_of(local_vendors_, as_number(bytes));
  put_number(bytes, number & 0xffffU);
  bytes[0] = flags;
}

void Pseudonyms::device(std::span<std::uint8_t, 3> bytes) {
  put_number(bytes, number_of(devices_, as_number(bytes)));
}

void Pseudonyms::mac(std::span<std::uint8_t, 6> bytes) {
  if (all_are(bytes, 0) || all_are(bytes, 0xff)) return;
  vendor(bytes.first<3>(), false);
  device(bytes.last<3>());
}

void Pseudonyms::guid(std::span<std::uint8_t, 8> bytes) {
  if (all_are(bytes, 0) || all_are(bytes, 0xff)) return;
  const auto middle = bytes.subspan<3, 2>();
  const std::uint64_t kind = as_number(middle);
  vendor(bytes.first<3>(), kind == 0xfffe);
  device(bytes.last<3>());
  const bool says_nothing = kind == 0 || kind == 0x0300 || kind == 0xfffe;
  if (!says_nothing) put_number(middle, 0x1000U + number_of(middles_, kind) % 0xe000U);
}

void Pseudonyms::gid_or_ipv6(std::span<std::uint8_t, 16> bytes) {
  const auto prefix = bytes.first<8>();
  const bool is_ipv4 = all_are(bytes.first<10>(), 0) && bytes[10] == 0xff && bytes[11] == 0xff;
  const bool is_loopback = all_are(bytes.first<15>(), 0) && bytes[15] == 1;
  if (is_ipv4) return ipv4(bytes.last<4>());
  if (is_loopback) return;
  if (bytes[0] ==
      0xff) {  // multicast: only the solicited-node form (RFC 4291 2.7.1) tells a device
    if (bytes[11] == 1 && bytes[12] == 0xff) device(bytes.last<3>());
    return;
  }
  const bool is_local = bytes[0] == 0xfe && (bytes[1] & 0x80U) != 0;
  if (!is_local && !all_are(prefix, 0)) {
    const std::uint32_t number = number_of(prefixes_, as_number(prefix));
    put_number(prefix, 0x20010db8'00000000U | number);
  }
  guid(bytes.last<8>());
}

void Pseudonyms::ipv4(std::span<std::uint8_t, 4> bytes) {
  if (all_are(bytes, 0) || all_are(bytes, 0xff) || bytes[0] == 127) return;
  const auto network = number_of(ipv4_networks_, as_number(bytes.first<3>()));
  const auto stand_in = documentation_network(network);
  std::ranges::copy(stand_in, bytes.begin());
  if (bytes[3] == 0 || bytes[3] == 0xff) return;
  const auto host = number_of(ipv4_hosts_[network], std::uint64_t{bytes[3]});
  bytes[3] = static_cast<std::uint8_t>(host);
}

void Pseudonyms::uuid(std::span<std::uint8_t, 16> bytes) {
  if (all_are(bytes, 0) || all_are(bytes, 0xff)) return;
  std::array<std::uint8_t, 16> original{};
  std::ranges::copy(bytes, original.begin());
  std::ranges::fill(bytes, std::uint8_t{0});
  bytes[6] = 0x40;  // version and variant of a random UUID, RFC 4122
  bytes[8] = 0x80;
  put_number(bytes.last<4>(), number_of(uuids_, original));
}

std::string Pseudonyms::serial(std::string_view text) {
  const auto is_zero = [](char c) { return c == '0' || !is_letter_or_digit(c); };
  if (std::ranges::all_of(text, is_zero)) return std::string(text);
  std::string stand_in(text);
  std::string number = std::to_string(number_of(serials_, stand_in));
  for (std::size_t i = stand_in.size(); i-- > 0;) {
    if (!is_letter_or_digit(stand_in[i])) continue;
    stand_in[i] = number.empty() ? '0' : number.back();
    if (!number.empty()) number.pop_back();
  }
  return number + stand_in;
}

std::string Pseudonyms::host_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  const auto number = number_of(host_names_, std::string(name.substr(0, dot)));
  return "node-" + std::to_string(number) + (dot == std::string_view::npos ? "" : ".example");
}

}  // namespace railhead::snapshot
