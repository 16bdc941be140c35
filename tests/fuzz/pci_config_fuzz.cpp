// SPDX-License-Identifier: Apache-2.0
//
// PCI configuration space, as a device with bad firmware may show it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "node/pci_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto config = railhead::node::parse_pci_config(bytes);
  const auto blanked = railhead::node::blanked_pci_config(bytes);
  if (config.has_value() != blanked.has_value()) std::abort();
  if (!blanked) return 0;
  const auto again = railhead::node::parse_pci_config(*blanked);
  if (!again || *again != *config) std::abort();
  if (railhead::node::blanked_pci_config(*blanked) != blanked) std::abort();
  return 0;
}
