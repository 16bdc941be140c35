// SPDX-License-Identifier: Apache-2.0
#include "checks/pci_config.h"

namespace railhead::checks {

const node::PciConfig* known_config(const Machine& machine, const node::PciAddress& address) {
  const auto at = machine.system.pci_config.find(address);
  return at != machine.system.pci_config.end() && at->second.value ? &*at->second.value : nullptr;
}

std::optional<Evidence> unknown_config(const Machine& machine, const node::PciAddress& address) {
  const auto path = pci_path(address, "config");
  const auto at = machine.system.pci_config.find(address);
  if (at == machine.system.pci_config.end()) return Evidence{path, "", "not read"};
  if (!at->second.value) {
    return Evidence{path, "", at->second.absent() ? "not there" : at->second.error};
  }
  if (!at->second.value->whole) return Evidence{path, "", "EPERM"};
  return std::nullopt;
}

}  // namespace railhead::checks
