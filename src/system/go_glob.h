// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railhead::system {

/// The names in a folder, sorted; none where it is no folder.
using NamesIn = std::function<std::vector<std::string>(const std::string& folder)>;

/// Whether a name without "/" fits a pattern of Go's path/filepath, Match. Absent: it is no
/// pattern.
std::optional<bool> go_match(std::string_view pattern, std::string_view name);

/// The paths that fit an absolute pattern, in the order of Go's path/filepath, Glob. Absent: it is
/// no pattern.
std::optional<std::vector<std::string>> go_glob(const std::string& pattern, const NamesIn& names);

}  // namespace railhead::system
