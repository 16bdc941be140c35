// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "node/pci.h"
#include "pools/pools.h"

namespace railhead::pools {

/// PCI functions of a list by their address; scalable functions and soft devices have none of
/// their own. Points into the list.
class FunctionIndex {
 public:
  explicit FunctionIndex(const std::vector<NetFunction>& functions);

  /// Null where the list has no such function.
  [[nodiscard]] const NetFunction* find(const node::PciAddress& address) const;

 private:
  std::vector<const NetFunction*> by_address_;
};

}  // namespace railhead::pools
