// SPDX-License-Identifier: Apache-2.0
// What a runtime and the kernel say of a container: its device rules, and the addresses of its
// network, and the library in which the ending of providers is looked for. A container without
// rules may open nothing, and an address is spelt as a GID.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "system/container.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rules = railhead::system::parse_device_rules(text);
  if (rules && rules->empty() && railhead::system::may_open(*rules, {'c', 231, 192, 0, 0, 0})) {
    std::abort();
  }
  const auto half = text.find('\0') == std::string_view::npos ? size : text.find('\0');
  for (const auto& address : railhead::system::local_addresses(text.substr(0, half), text)) {
    if (address.size() != 39) std::abort();
  }
  const auto suffix = railhead::system::provider_suffix_in(text);
  if (suffix && (!suffix->starts_with("-rdmav") || !suffix->ends_with(".so") || suffix->size() > 13))
    std::abort();
  return 0;
}
