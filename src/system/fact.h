// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "host/host.h"
#include "host/host_error.h"

namespace railhead::system {

/// One thing that was looked for: what was found, that it is not there, or why it is not known.
template <typename T>
struct Fact {
  std::string path;
  std::optional<T> value{};
  /// Why it is not known: "EACCES", "malformed: …"; "" where it was read or is not there.
  std::string error{};

  [[nodiscard]] bool known() const { return value.has_value(); }

  [[nodiscard]] bool absent() const { return !value && error.empty(); }

  friend bool operator==(const Fact&, const Fact&) = default;
};

using Text = Fact<std::string>;

/// The answer of a Host as a fact.
template <typename T>
Fact<T> fact_of(const std::string& path, Result<std::optional<T>> answer) {
  if (answer) return {path, *std::move(answer), ""};
  const auto& error = answer.error();
  if (error.code == ErrorCode::malformed) return {path, {}, "malformed: " + error.message};
  return {path, {}, std::string(host::errno_name(host::errno_of(error)))};
}

}  // namespace railhead::system
