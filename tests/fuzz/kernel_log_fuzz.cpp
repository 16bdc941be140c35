// SPDX-License-Identifier: Apache-2.0
//
// Lines of the kernel's log, the addresses in them, and what a snapshot keeps of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "system/gather.h"
#include "system/kept_files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = railhead::system::parse_kernel_log(text);
  if (lines.size() > railhead::system::kMaxLogLines) std::abort();
  for (const auto& line : lines) {
    if (railhead::system::addresses_in(line.text).size() > line.text.size()) std::abort();
  }
  const auto kept = railhead::system::kept_kernel_log(text);
  if (railhead::system::kept_kernel_log(kept) != kept) std::abort();
  return 0;
}
