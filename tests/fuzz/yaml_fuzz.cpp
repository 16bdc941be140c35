// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "data/value.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const railhead::data::ParseLimits limits{.bytes = 65536, .depth = 8, .values = 1024};
  (void)railhead::data::parse_yaml({reinterpret_cast<const char*>(data), size}, limits);
  return 0;
}
