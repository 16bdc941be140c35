// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>

#include "host/changes.h"
#include "node/pci.h"

namespace railhead::node {

/// Which parts of a machine are read again, in terms of the node.
struct Again {
  /// All of it, except what never changes while a driver holds its function.
  bool everything = false;
  host::MachineChanges::Names rdma{};
  host::MachineChanges::Names nodes{};
  host::MachineChanges::Names netdevs{};
  std::set<PciAddress> pci{};

  [[nodiscard]] bool has(const std::optional<PciAddress>& function) const {
    return function && pci.contains(*function);
  }
};

}  // namespace railhead::node
