// SPDX-License-Identifier: Apache-2.0
//
// Netlink messages and their attributes, as bytes. Invariants (netlink(7), include/uapi/linux/
// netlink.h, include/net/netlink.h):
//   * a message is a header of 16 bytes and a payload, its length includes the header;
//   * an attribute is a header of 4 bytes and a payload, its length includes the header; the two
//     uppermost bits of its type are flags;
//   * the next message or attribute begins at a multiple of four; the last may lack its padding;
//   * numbers are in the byte order of the machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace railhead::host {

inline constexpr std::uint16_t kNetlinkDone = 3;  ///< NLMSG_DONE: ends a list, begins with an errno

struct NetlinkMessage {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;
  std::string_view payload;
};

struct NetlinkAttribute {
  std::uint16_t type = 0;  ///< without the flags
  std::string_view payload;
};

/// Takes the first message off `bytes`; nothing, and `bytes` untouched, where that is none.
std::optional<NetlinkMessage> take_netlink_message(std::string_view& bytes);

/// Takes the first attribute off `bytes`; nothing, and `bytes` untouched, where that is none.
std::optional<NetlinkAttribute> take_netlink_attribute(std::string_view& bytes);

/// The errno with which the kernel gave up in the middle of a list; nothing for a whole one.
std::optional<int> cut_short(std::string_view messages);

/// A payload that is exactly one number of this type.
template <typename T>
std::optional<T> netlink_number(std::string_view payload) {
  static_assert(std::is_unsigned_v<T>);
  if (payload.size() != sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, payload.data(), sizeof value);
  return value;
}

/// An attribute, padded.
std::string netlink_attribute(std::uint16_t type, std::string_view payload);

/// A message whose payload is padded already.
std::string netlink_message(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence,
                            std::string_view payload);

/// The bytes of a number, as they stand in a payload.
template <typename T>
std::string netlink_bytes(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Zeroes `part`, which is a view of `whole`.
void blank_netlink(std::string& whole, std::string_view part);

}  // namespace railhead::host
