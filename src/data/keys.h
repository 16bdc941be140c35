// SPDX-License-Identifier: Apache-2.0
// A map with known keys, as a table: a row has a key and what takes its value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/text.h"
#include "data/value.h"

namespace railhead::data {

template <typename Target>
struct Key {
  std::string_view name;
  Status (*take)(const Value& value, Target& target);
};

/// Hands each value of a map to the row of its key. Malformed: it is no map, or a key has no row.
template <typename Target, std::size_t N>
Status take_keys(const Value& map, const Key<Target> (&keys)[N], Target& target) {
  if (map.kind != Value::Kind::map) return malformed_at(map.mark, "no map");
  for (const auto& entry : map.entries) {
    const auto* key = std::ranges::find(keys, entry.key, &Key<Target>::name);
    if (key == std::end(keys))
      return malformed_at(entry.mark, "there is no key " + in_quotes(entry.key));
    const auto taken = key->take(entry.value, target);
    if (!taken) return taken.error().context(entry.key);
  }
  return {};
}

// What rows may take a value by: into a member of what is read.

template <auto Member, typename Target>
Status take_text(const Value& value, Target& target) {
  target.*Member = TRY(value.as_string());
  return {};
}

template <auto Member, typename Target>
Status take_flag(const Value& value, Target& target) {
  target.*Member = TRY(value.as_bool());
  return {};
}

/// A number that fits into 16 bits.
template <auto Member, typename Target>
Status take_number(const Value& value, Target& target) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint16_t>::max();
  const auto number = TRY(value.as_unsigned());
  if (number > kMost) return malformed_at(value.mark, "more than " + std::to_string(kMost));
  target.*Member = static_cast<std::remove_reference_t<decltype(target.*Member)>>(number);
  return {};
}

/// A map below it, with rows of its own.
template <auto& keys, typename Target>
Status take_map(const Value& value, Target& target) {
  return take_keys(value, keys, target);
}

template <auto Member, auto& keys, typename Target>
Status take_map_of(const Value& value, Target& target) {
  return take_keys(value, keys, target.*Member);
}

}  // namespace railhead::data
