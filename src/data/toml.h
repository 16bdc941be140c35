// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "data/value.h"

namespace railhead::data {

/// A TOML 1.0 document as a map. Numbers, booleans and dates stay plain scalars, strings are quoted
/// ones. What no configuration of a container runtime has (dates with a space, \U escapes) may be
/// taken as it stands. Errors name the line.
Result<Value> parse_toml(std::string_view text, const ParseLimits& limits = {});

}  // namespace railhead::data
