// SPDX-License-Identifier: Apache-2.0
#include "bench/fields.h"

#include <cstdlib>

namespace railhead::bench {
namespace {

constexpr std::size_t kMaxText = 4096;

Error wrong(std::string_view key, std::string_view what) {
  return {ErrorCode::malformed,
          "message from the other side: " + std::string(key) + " " + std::string(what)};
}

}  // namespace

Result<std::uint64_t> number_field(const data::Value& value, std::string_view key,
                                   std::uint64_t most) {
  const auto* field = value.find(key);
  if (field == nullptr) return wrong(key, "is missing");
  const auto number = field->as_unsigned();
  if (!number || field->quoted) return wrong(key, "is no number");
  if (*number > most) return wrong(key, "is above " + std::to_string(most));
  return *number;
}

Result<std::string> text_field(const data::Value& value, std::string_view key) {
  auto text = TRY(optional_text_field(value, key));
  if (!text) return wrong(key, "is missing");
  return *std::move(text);
}

Result<std::optional<std::string>> optional_text_field(const data::Value& value,
                                                       std::string_view key) {
  const auto* field = value.find(key);
  if (field == nullptr || field->kind == data::Value::Kind::null)
    return std::optional<std::string>();
  if (field->kind != data::Value::Kind::scalar || !field->quoted) return wrong(key, "is no text");
  if (field->scalar.size() > kMaxText) return wrong(key, "is too long");
  return std::optional(field->scalar);
}

Result<const data::Value*> list_field(const data::Value& value, std::string_view key,
                                      std::size_t most) {
  const auto* field = value.find(key);
  if (field == nullptr || field->kind != data::Value::Kind::list) return wrong(key, "is no list");
  if (field->items.size() > most) {
    return wrong(key, "has more than " + std::to_string(most) + " items");
  }
  return field;
}

data::Json json_of(const data::Value& value) {
  switch (value.kind) {
    case data::Value::Kind::null: return nullptr;
    case data::Value::Kind::list: return data::json_list(value.items, json_of);
    case data::Value::Kind::map: {
      data::Json map = data::Json::object();
      for (const auto& entry : value.entries) map[entry.key] = json_of(entry.value);
      return map;
    }
    case data::Value::Kind::scalar: break;
  }
  if (value.quoted) return value.scalar;
  if (const auto number = value.as_unsigned()) return *number;
  if (const auto number = value.as_signed()) return *number;
  if (const auto flag = value.as_bool()) return *flag;
  char* end = nullptr;
  const double real = std::strtod(value.scalar.c_str(), &end);
  if (*end == '\0' && !value.scalar.empty()) return real;
  return value.scalar;
}

}  // namespace railhead::bench
