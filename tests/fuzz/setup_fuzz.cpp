// SPDX-License-Identifier: Apache-2.0
// What is wanted, as a person writes it: names never lead out of their folders.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "setup/link_control.h"
#include "setup/wanted.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto wanted = railhead::setup::parse_wanted(
      "fuzz", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!wanted) return 0;
  for (const auto& names : {wanted->modules, wanted->memlock_services}) {
    for (const auto& name : names) {
      if (name.empty() || name.find('/') != std::string::npos ||
          name.find("..") != std::string::npos)
        std::abort();
    }
  }
  for (const auto& wish : wanted->nfs) {
    const auto unit = wish.what + wish.where + wish.options;
    if (!wish.where.starts_with('/') || unit.find_first_of("\n%") != std::string::npos)
      std::abort();
  }
  for (const auto& [netdev, wish] : wanted->links) {
    if (netdev.empty() || netdev.find('/') != std::string::npos) std::abort();
    for (const auto& [name, value] : wish.settings) {
      if (value.empty() || (name == "ets" && !railhead::setup::parse_ets(value))) std::abort();
    }
  }
  return 0;
}
