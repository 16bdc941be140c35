// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace railhead::wire {

/// Four bytes in network order, as both ttrpc and the NRI multiplexer write their numbers.
inline std::uint32_t load_be32(const char* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = (value << 8U) | static_cast<std::uint8_t>(from[i]);
  return value;
}

inline void store_be32(char* to, std::uint32_t value) {
  for (int i = 3; i >= 0; --i, value >>= 8U) to[i] = static_cast<char>(value & 0xFFU);
}

}  // namespace railhead::wire
