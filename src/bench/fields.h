// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/json.h"
#include "data/value.h"

namespace railhead::bench {

/// Members of a message from the other side. Errors name the key and what was there instead.
Result<std::uint64_t> number_field(const data::Value& value, std::string_view key,
                                   std::uint64_t most);

/// The same as another type, whose largest value is not below `most`.
template <typename Number>
Result<Number> number_field(const data::Value& value, std::string_view key, std::uint64_t most) {
  return static_cast<Number>(TRY(number_field(value, key, most)));
}

Result<std::string> text_field(const data::Value& value, std::string_view key);
/// Absent when there is no such key or it is null.
Result<std::optional<std::string>> optional_text_field(const data::Value& value,
                                                       std::string_view key);
/// A list of at most so many items; never null.
Result<const data::Value*> list_field(const data::Value& value, std::string_view key,
                                      std::size_t most);

/// A parsed document as one for output.
data::Json json_of(const data::Value& value);

}  // namespace railhead::bench
