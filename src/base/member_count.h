// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace railhead {

struct AnyValue {
  template <typename T>
  operator T() const;  // NOLINT: converts to whatever a member is
};

/// How many members an aggregate has, so that a table of them can say that it has them all.
template <typename T, typename... Values>
consteval std::size_t member_count() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; }) {
    return member_count<T, Values..., AnyValue>();
  } else {
    return sizeof...(Values);
  }
}

}  // namespace railhead
