// SPDX-License-Identifier: Apache-2.0
#include "pools/section.h"

#include <algorithm>
#include <utility>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::pools {
namespace {

bool is_same_key(std::string_view a, std::string_view b, Keys keys) {
  return keys == Keys::ours ? a == b : to_lower(a) == to_lower(b);
}

}  // namespace

Section::Section(std::string file, std::string path, const data::Value& value, Keys keys)
    : file_(std::move(file)),
      path_(std::move(path)),
      value_(&value),
      keys_(keys) {}

Result<Section> Section::of(std::string file, std::string path, const data::Value& value,
                            Keys keys) {
  if (value.kind != data::Value::Kind::map) {
    return Error{ErrorCode::malformed,
                 data::place_in(file, value.mark) + ": " + path + ": expected keys and values"};
  }
  return Section(std::move(file), std::move(path), value, keys);
}

const data::Value::Entry* Section::entry(std::string_view key) const {
  const auto at =
      std::find_if(value_->entries.rbegin(), value_->entries.rend(),
                   [&](const data::Value::Entry& one) { return is_same_key(one.key, key, keys_); });
  return at != value_->entries.rend() ? &*at : nullptr;
}

const data::Value* Section::find(std::string_view key) {
  if (!contains(asked_, key)) asked_.emplace_back(key);
  const auto* found = entry(key);
  return found != nullptr && found->value.kind != data::Value::Kind::null ? &found->value : nullptr;
}

template <typename T>
Result<std::optional<T>> Section::value_as(std::string_view key,
                                           Result<T> (data::Value::*as)() const) {
  const auto* value = find(key);
  if (value == nullptr) return std::optional<T>();
  auto found = (value->*as)();
  if (!found) return found.error().context(file_ + ": " + path_of(key));
  return std::optional<T>(*std::move(found));
}

Result<std::optional<std::string>> Section::text(std::string_view key) {
  return value_as(key, &data::Value::as_string);
}

Result<bool> Section::flag(std::string_view key) {
  return TRY(value_as(key, &data::Value::as_bool)).value_or(false);
}

Result<std::vector<std::string>> Section::texts(std::string_view key) {
  const auto* value = find(key);
  if (keys_ == Keys::ours && value != nullptr && value->kind == data::Value::Kind::scalar)
    return std::vector<std::string>{value->scalar};
  return TRY(value_as(key, &data::Value::as_strings)).value_or(std::vector<std::string>());
}

Result<std::optional<std::int64_t>> Section::number(std::string_view key) {
  return value_as(key, &data::Value::as_signed);
}

Result<std::optional<Section>> Section::section(std::string_view key) {
  const auto* value = find(key);
  if (value == nullptr) return std::optional<Section>();
  return std::optional<Section>(TRY(of(file_, path_of(key), *value, keys_)));
}

Status Section::finish(std::vector<std::string>& warnings) const {
  for (const auto& one : value_->entries) {
    const auto where = data::place_in(file_, one.mark);
    if (entry(one.key) != &one) {
      warnings.push_back(where + ": key " + in_quotes(path_of(one.key), 128) +
                         " stands twice; the last counts");
      continue;
    }
    const bool asked = std::ranges::any_of(
        asked_, [&](const auto& known) { return is_same_key(known, one.key, keys_); });
    if (asked) continue;
    const auto what = where + ": unknown key " + in_quotes(path_of(one.key), 128);
    if (keys_ == Keys::ours) {
      return Error{ErrorCode::malformed, what + "; known here: " + join(asked_, ", ")};
    }
    warnings.push_back(what + " ignored");
  }
  return {};
}

Error Section::error(std::string_view key, const std::string& what) const {
  return {ErrorCode::malformed, place(key) + ": " + path_of(key) + ": " + what};
}

std::string Section::place(std::string_view key) const {
  const auto* found = entry(key);
  return found != nullptr ? data::place_in(file_, found->value.mark) : place();
}

std::string Section::place() const {
  return data::place_in(file_, value_->mark);
}

std::string Section::path_of(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : path_ + "." + std::string(key);
}

}  // namespace railhead::pools
