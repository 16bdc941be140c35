// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace railhead::wire {

/// Bytes as written in a specification; independent of the code under test.
inline std::string bytes(std::initializer_list<unsigned> values) {
  std::string out;
  for (const unsigned value : values) out.push_back(static_cast<char>(value));
  return out;
}

/// A number in network order.
inline std::string be32(std::uint32_t value) {
  return bytes({value >> 24U, (value >> 16U) & 255U, (value >> 8U) & 255U, value & 255U});
}

}  // namespace railhead::wire
