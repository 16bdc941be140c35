// SPDX-License-Identifier: Apache-2.0
#include "inject/level_zero_mask.h"

#include <numeric>

#include "base/sort_unique.h"
#include "base/text.h"
#include "base/variable.h"

namespace railhead::inject {

std::optional<std::vector<std::size_t>> level_zero_mask(const container::Request& request,
                                                        std::size_t count) {
  std::vector<std::size_t> left(count);
  std::iota(left.begin(), left.end(), 0);
  const auto mask = variable_in(request.env, "ZE_AFFINITY_MASK").value_or("");
  if (mask.empty() || count < 2) return left;
  if (variable_in(request.env, "ZE_FLAT_DEVICE_HIERARCHY") != "COMPOSITE" ||
      variable_in(request.env, "ZE_ENABLE_PCI_ID_DEVICE_ORDER") != "1") {
    return std::nullopt;
  }
  left.clear();
  for (const std::string_view entry : split(mask, ',')) {
    const auto gpu = parse_unsigned(trim(entry.substr(0, entry.find('.'))));
    if (!gpu || *gpu >= count) return std::nullopt;
    left.push_back(static_cast<std::size_t>(*gpu));
  }
  sort_unique(left);
  return left;
}

}  // namespace railhead::inject
