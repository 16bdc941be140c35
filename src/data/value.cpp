// SPDX-License-Identifier: Apache-2.0
#include "data/value.h"

#include "base/text.h"

namespace railhead::data {
namespace {

std::string_view kind_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null: return "nothing";
    case Value::Kind::scalar: return "text";
    case Value::Kind::list: return "a list";
    case Value::Kind::map: return "keys and values";
  }
  return "something";
}

Error mismatch(const Value& value, std::string_view wanted) {
  const auto found =
      value.kind == Value::Kind::scalar ? in_quotes(value.scalar) : std::string(kind_text(value));
  return error_at(value.mark, "expected " + std::string(wanted) + ", found " + found);
}

}  // namespace

std::string place_in(const std::string& file, const Mark& mark) {
  if (mark.line == 0) return file;
  return file + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

Error error_at(const Mark& mark, std::string_view what, ErrorCode code) {
  if (mark.line == 0) return {code, std::string(what)};
  return {code, "line " + std::to_string(mark.line) + " column " + std::to_string(mark.column) +
                    ": " + std::string(what)};
}

Error malformed_at(const Mark& mark, std::string_view what) {
  return {ErrorCode::malformed, "line " + std::to_string(mark.line) + ": " + std::string(what)};
}

const Value* Value::find(std::string_view key) const {
  for (const auto& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Result<std::string> Value::as_string() const {
  if (kind == Kind::scalar) return scalar;
  return mismatch(*this, "text");
}

Result<bool> Value::as_bool() const {
  if (kind == Kind::scalar && !quoted) {
    if (scalar == "true" || scalar == "True" || scalar == "TRUE") return true;
    if (scalar == "false" || scalar == "False" || scalar == "FALSE") return false;
  }
  return mismatch(*this, "true or false");
}

Result<std::uint64_t> Value::as_unsigned() const {
  if (kind == Kind::scalar && !quoted) {
    if (auto number = parse_number(scalar)) return number;
  }
  return mismatch(*this, "a number that is not negative");
}

Result<std::int64_t> Value::as_signed() const {
  if (kind == Kind::scalar && !quoted) {
    if (auto number = parse_signed(scalar)) return number;
  }
  return mismatch(*this, "a whole number");
}

Result<std::vector<std::string>> Value::as_strings() const {
  if (kind != Kind::list) return mismatch(*this, "a list");
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(TRY(item.as_string()));
  return texts;
}

}  // namespace railhead::data
