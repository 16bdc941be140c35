// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/result.h"

namespace railhead {

/// The value of a Result; absent in place of an Error, where nobody must know why.
template <typename T>
std::optional<T> or_absent(const Result<T>& result) {
  return result ? std::optional<T>(*result) : std::nullopt;
}

}  // namespace railhead
