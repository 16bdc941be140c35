// SPDX-License-Identifier: Apache-2.0
//
// A kernel uevent of any bytes: what it names has the form of a name, and there are not more names
// than the message has room for.
#include <cstdlib>
#include <string_view>

#include "host/changes.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto changes = railhead::host::changes_of_uevent(bytes);
  for (const auto& address : changes.pci) {
    if (!railhead::host::is_pci_address(address)) std::abort();
  }
  for (const auto* names : {&changes.rdma, &changes.nodes, &changes.netdevs}) {
    if (names->size() > 2) std::abort();
    for (const auto& name : *names) {
      if (name.empty() || name.size() > size) std::abort();
    }
  }
  return 0;
}
