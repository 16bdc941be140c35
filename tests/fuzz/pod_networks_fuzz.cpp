// SPDX-License-Identifier: Apache-2.0
// The networks of a pod, written by its author. Each name that comes out is "NAMESPACE/NAME" of
// lower-case letters, digits and dashes, and there are no more than the limit.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "inject/pod_networks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = railhead::inject::parse_networks(text, "default");
  if (!read) return 0;
  if (read->size() > 1024) std::abort();
  for (const auto& name : *read) {
    const auto is_fine = [](char c) {
      return c == '-' || c == '/' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
    };
    const bool fine = std::ranges::all_of(name, is_fine);
    if (!fine || std::ranges::count(name, '/') != 1) std::abort();
  }
  return 0;
}
