// SPDX-License-Identifier: Apache-2.0
#include "transports/variables.h"

#include <algorithm>

namespace railhead::transports {
namespace {

constexpr std::size_t kLongestName =
    std::ranges::max_element(kVariables, [](auto a, auto b) { return a.size() < b.size(); })
        -> size();

}  // namespace

std::size_t index_of_variable(std::string_view entry) {
  const auto equals = entry.substr(0, kLongestName + 1).find('=');
  if (equals == std::string_view::npos) return kVariables.size();
  const auto* at = std::ranges::find(kVariables, entry.substr(0, equals));
  return static_cast<std::size_t>(at - kVariables.begin());
}

Values::Values(const std::vector<std::string_view>& environment) {
  for (const std::string_view entry : environment) {
    if (!begins_as_variable(entry)) continue;
    const std::size_t at = index_of_variable(entry);
    if (at == kVariables.size()) continue;
    values_[at] = entry.substr(kVariables[at].size() + 1);
    empty_ = false;
  }
}

}  // namespace railhead::transports
