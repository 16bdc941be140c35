// SPDX-License-Identifier: Apache-2.0
//
// Netlink messages as bytes, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace railhead::test {

template <typename T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

constexpr unsigned kNetlinkError = 2;  ///< NLMSG_ERROR

/// What such a message begins with.
inline std::string netlink_status(int error_number) {
  return raw(static_cast<std::int32_t>(-error_number));
}

inline std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

inline std::string attribute(unsigned type, const std::string& payload) {
  return padded(raw(static_cast<std::uint16_t>(payload.size() + 4)) +
                raw(static_cast<std::uint16_t>(type)) + payload);
}

inline std::string text_attribute(unsigned type, const std::string& text) {
  return attribute(type, text + std::string(1, '\0'));
}

inline std::string u8(unsigned type, unsigned value) {
  return attribute(type, raw(static_cast<std::uint8_t>(value)));
}

inline std::string u32(unsigned type, std::uint32_t value) {
  return attribute(type, raw(value));
}

inline std::string u64(unsigned type, std::uint64_t value) {
  return attribute(type, raw(value));
}

inline std::string message(unsigned type, const std::string& payload, unsigned flags = 2,
                           std::uint32_t sequence = 1) {
  return padded(raw(static_cast<std::uint32_t>(payload.size() + 16)) +
                raw(static_cast<std::uint16_t>(type)) + raw(static_cast<std::uint16_t>(flags)) +
                raw(sequence) + raw(std::uint32_t{0}) + payload);
}

/// Of the RDMA subsystem: client 5 (NLDEV).
inline std::string rdma_message(unsigned command, const std::string& payload) {
  return message((5U << 10U) + command, payload);
}

}  // namespace railhead::test
