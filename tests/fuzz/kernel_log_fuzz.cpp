// SPDX-License-Identifier: Apache-2.0
//
// Lines of the kernel's log.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "system/gather.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = railhead::system::parse_kernel_log(text);
  if (lines.size() > railhead::system::kMaxLogLines) std::abort();
  return 0;
}
