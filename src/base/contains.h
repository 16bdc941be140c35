// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace railhead {

/// Whether a value is among those of a list; std::ranges::contains() under C++23.
template <typename List, typename Value>
constexpr bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace railhead
