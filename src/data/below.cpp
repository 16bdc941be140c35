// SPDX-License-Identifier: Apache-2.0
#include "data/below.h"

namespace railhead::data {

const Value* below(const Value* value, Keys keys) {
  for (const auto key : keys) {
    if (value == nullptr) return nullptr;
    value = value->find(key);
  }
  return value != nullptr && value->kind != Value::Kind::null ? value : nullptr;
}

const Value* below(const Value& value, Keys keys) {
  return below(&value, keys);
}

std::string_view text_below(const Value* value, Keys keys) {
  const auto* found = below(value, keys);
  return found != nullptr ? std::string_view(found->scalar) : std::string_view();
}

std::string_view text_below(const Value& value, Keys keys) {
  return text_below(&value, keys);
}

bool is_true(const Value& value, Keys keys) {
  const auto* found = below(value, keys);
  return found != nullptr && found->as_bool().value_or(false);
}

bool is_false(const Value& value, Keys keys) {
  const auto* found = below(value, keys);
  return found != nullptr && !found->as_bool().value_or(true);
}

const std::vector<Value>& items_below(const Value* value, Keys keys) {
  static const std::vector<Value> none;
  const auto* found = below(value, keys);
  return found != nullptr ? found->items : none;
}

const std::vector<Value>& items_below(const Value& value, Keys keys) {
  return items_below(&value, keys);
}

}  // namespace railhead::data
