// SPDX-License-Identifier: Apache-2.0
// Ways into a value whose shape is somebody else's: what is not there is nothing, and no failure.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "data/value.h"

namespace railhead::data {

using Keys = std::initializer_list<std::string_view>;

/// The value below these keys; nullptr where one of them is not there, or has no value.
const Value* below(const Value* value, Keys keys);
const Value* below(const Value& value, Keys keys);

/// The scalar below these keys; "" where there is none.
std::string_view text_below(const Value* value, Keys keys);
std::string_view text_below(const Value& value, Keys keys);

/// Whether the scalar below these keys is true; false where there is none.
bool is_true(const Value& value, Keys keys);
/// Whether it is there and says false.
bool is_false(const Value& value, Keys keys);

/// Items of the list below these keys; none where there is no list.
const std::vector<Value>& items_below(const Value* value, Keys keys);
const std::vector<Value>& items_below(const Value& value, Keys keys);

}  // namespace railhead::data
