// SPDX-License-Identifier: Apache-2.0
#include "transports/variables.h"

#include <algorithm>

namespace railhead::transports {
namespace {

constexpr std::size_t kLongestName =
    std::ranges::max_element(kVariables, [](auto a, auto b) { return a.size() < b.size(); })
        -> size();

/// Few variables of a container do, and nearly all others differ in the second character.
constexpr bool begins_as_one(std::string_view entry) {
  if (entry.size() < 2) return false;
  switch (entry[1]) {
    case 'C': return entry.starts_with("NCCL_") || entry.starts_with("UCX_");
    case 'V': return entry.starts_with("NVSHMEM_");
    default: return false;
  }
}

static_assert(std::ranges::all_of(kVariables, begins_as_one));

/// Index into kVariables of the name before "="; kVariables.size() where it is none of them.
std::size_t index_of(std::string_view entry) {
  if (!begins_as_one(entry)) return kVariables.size();
  const auto equals = entry.substr(0, kLongestName + 1).find('=');
  if (equals == std::string_view::npos) return kVariables.size();
  const auto* at = std::ranges::find(kVariables, entry.substr(0, equals));
  return static_cast<std::size_t>(at - kVariables.begin());
}

}  // namespace

bool is_transport_variable(std::string_view entry) {
  return index_of(entry) < kVariables.size();
}

Values::Values(const std::vector<std::string_view>& environment) {
  for (const std::string_view entry : environment) {
    const std::size_t at = index_of(entry);
    if (at == kVariables.size()) continue;
    values_[at] = entry.substr(kVariables[at].size() + 1);
    empty_ = false;
  }
}

}  // namespace railhead::transports
