// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "data/json.h"
#include "data/value.h"

namespace railhead::kube {

/// The operations of a JSON patch that take every taint of this key off a Node, and touch nothing
/// else: each is tested for in its place first, so the patch fails as a whole where somebody has
/// changed the list since. Absent where the node has no such taint.
std::optional<data::Json> taint_removal(const data::Value& node, std::string_view key);

}  // namespace railhead::kube
