// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace railhead {

/// Whether an entry of an environment is "NAME=…".
constexpr bool sets_variable(std::string_view entry, std::string_view name) {
  return !name.empty() && entry.size() > name.size() && entry.front() == name.front() &&
         entry[name.size()] == '=' && entry.starts_with(name);
}

/// Its last value, as the runtime would use, without white space at both ends; absent where no
/// entry sets it.
std::optional<std::string_view> variable_in(const std::vector<std::string_view>& environment,
                                            std::string_view name);

}  // namespace railhead
