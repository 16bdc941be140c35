// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>

namespace railhead {

/// The first of a list for which `wanted` holds; nullptr where there is none. The list has to stay.
template <typename List, typename Wanted>
constexpr auto* find_where(List& list, const Wanted& wanted) {
  const auto at = std::ranges::find_if(list, wanted);
  return at == std::end(list) ? nullptr : &*at;
}

/// The first whose member, or what a function says of it, is this value.
template <typename List, typename Member, typename Value>
constexpr auto* find_by(List& list, const Member& member, const Value& value) {
  return find_where(list, [&](const auto& one) { return std::invoke(member, one) == value; });
}

/// The value of a map's key; nullptr where it has none.
template <typename Map, typename Key>
constexpr auto* find_value(Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

/// The first of a list that is sorted by that member.
template <typename List, typename Member, typename Value>
constexpr auto* find_sorted(List& list, const Member& member, const Value& value) {
  const auto at = std::ranges::lower_bound(list, value, {}, member);
  return at != std::end(list) && std::invoke(member, *at) == value ? &*at : nullptr;
}

}  // namespace railhead
