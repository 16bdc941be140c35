// SPDX-License-Identifier: Apache-2.0
#include "base/variable.h"

#include <algorithm>

#include "base/text.h"

namespace railhead {

std::optional<std::string_view> variable_in(const std::vector<std::string_view>& environment,
                                            std::string_view name) {
  const auto found =
      std::find_if(environment.rbegin(), environment.rend(),
                   [&](std::string_view entry) { return sets_variable(entry, name); });
  if (found == environment.rend()) return std::nullopt;
  return trim(found->substr(name.size() + 1));
}

}  // namespace railhead
