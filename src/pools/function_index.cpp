// SPDX-License-Identifier: Apache-2.0
#include "pools/function_index.h"

#include <algorithm>

namespace railhead::pools {

FunctionIndex::FunctionIndex(const std::vector<NetFunction>& functions) {
  by_address_.reserve(functions.size());
  for (const auto& function : functions) {
    if (function.pci && function.kind != FunctionKind::scalable) by_address_.push_back(&function);
  }
  std::ranges::stable_sort(by_address_,
                           [](const auto* a, const auto* b) { return *a->pci < *b->pci; });
}

const NetFunction* FunctionIndex::find(const node::PciAddress& address) const {
  const auto after = std::upper_bound(
      by_address_.begin(), by_address_.end(), address,
      [](const node::PciAddress& wanted, const auto* function) { return wanted < *function->pci; });
  if (after == by_address_.begin() || (*(after - 1))->pci != address) return nullptr;
  return *(after - 1);
}

}  // namespace railhead::pools
