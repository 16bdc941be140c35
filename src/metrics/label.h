// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace railhead::metrics {

/// A string literal as a template argument.
template <std::size_t N>
struct Literal {
  char text[N] = {};

  // Not explicit: the argument is written as the bare literal.
  consteval Literal(const char (&from)[N]) { std::copy_n(from, N, text); }  // NOLINT

  constexpr operator std::string_view() const { return {text, N - 1}; }  // NOLINT
};

/// One label of a metric: its name and all values that it can have; no values: any.
template <Literal name, Literal... values>
struct Label {
  static constexpr std::string_view kName = name;
  static constexpr std::array<std::string_view, sizeof...(values)> kValues{
      std::string_view(values)...};

  static constexpr bool is_known(std::string_view value) {
    return kValues.empty() || std::find(kValues.begin(), kValues.end(), value) != kValues.end();
  }

  /// A sample without this label.
  constexpr Label() = default;

  /// A literal that is none of the known values does not compile. Not explicit: a call shows the
  /// value alone.
  template <std::size_t N>
  consteval Label(const char (&literal)[N])  // NOLINT
      : value(std::string_view(literal, N - 1)) {
    if (!is_known(*value)) throw "not one of the values of this label";
  }

  /// The caller's text must be there until the call returns.
  constexpr explicit Label(std::string_view text)
      : value(text) {}

  std::optional<std::string_view> value;
};

}  // namespace railhead::metrics
