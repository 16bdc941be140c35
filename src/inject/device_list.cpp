// SPDX-License-Identifier: Apache-2.0
#include "inject/device_list.h"

#include <algorithm>

#include "base/text.h"
#include "container/adjustment.h"

namespace railhead::inject {
namespace {

Result<std::vector<data::Value>> entries_of(std::string_view yaml) {
  data::Value list = TRY(data::parse_yaml(yaml, kAnnotationLimits));
  if (list.kind == data::Value::Kind::null) return std::vector<data::Value>{};
  if (list.kind != data::Value::Kind::list) return data::malformed_at(list.mark, "no list");
  for (const data::Value& entry : list.items) {
    if (entry.kind != data::Value::Kind::map)
      return data::malformed_at(entry.mark, "an entry is not a map");
  }
  return std::move(list.items);
}

const std::string* scalar(const data::Value& map, std::string_view key) {
  const data::Value* value = map.find(key);
  return value != nullptr && value->kind == data::Value::Kind::scalar ? &value->scalar : nullptr;
}

Result<std::optional<std::int64_t>> number(const data::Value& map, std::string_view key) {
  const data::Value* value = map.find(key);
  if (value == nullptr || value->kind == data::Value::Kind::null)
    return std::optional<std::int64_t>{};
  return std::optional<std::int64_t>{TRY(value->as_signed())};
}

/// Permission bits as people write them: 0666, 0o666, or a plain number.
Result<std::optional<std::int64_t>> file_mode(const data::Value& map) {
  const std::string* text = scalar(map, "file_mode");
  if (text == nullptr || text->size() < 2 || (*text)[0] != '0' || (*text)[1] == 'x') {
    return number(map, "file_mode");
  }
  std::int64_t mode = 0;
  for (const char digit : std::string_view(*text).substr((*text)[1] == 'o' ? 2 : 1)) {
    if (digit < '0' || digit > '7' || mode > 07777) {
      return data::malformed_at(map.mark, "file_mode is not an octal number");
    }
    mode = mode * 8 + (digit - '0');
  }
  return std::optional<std::int64_t>{mode};
}

std::optional<std::int64_t> unless_zero(std::optional<std::int64_t> value) {
  return value == 0 ? std::nullopt : value;
}

Result<std::uint64_t> limit(const data::Value& map, std::string_view key) {
  const data::Value* value = map.find(key);
  if (value == nullptr || value->kind == data::Value::Kind::null) return std::uint64_t{0};
  if (value->kind == data::Value::Kind::scalar && to_lower(value->scalar) == "unlimited") {
    return container::kUnlimited;
  }
  return value->as_unsigned();
}

bool is_memlock(std::string_view type) {
  const std::string lower = to_lower(type);
  return lower == "memlock" || lower == "rlimit_memlock";
}

}  // namespace

Result<std::vector<container::AskedDevice>> parse_device_list(std::string_view yaml) {
  std::vector<container::AskedDevice> out;
  for (const data::Value& entry : TRY(entries_of(yaml))) {
    container::AskedDevice device;
    const std::string* path = scalar(entry, "path");
    if (path == nullptr || path->empty())
      return data::malformed_at(entry.mark, "an entry has no path");
    device.path = *path;
    if (const std::string* type = scalar(entry, "type")) device.type = *type;
    device.major = TRY(number(entry, "major"));
    device.minor = TRY(number(entry, "minor"));
    device.mode = unless_zero(TRY(file_mode(entry)));
    device.uid = unless_zero(TRY(number(entry, "uid")));
    device.gid = unless_zero(TRY(number(entry, "gid")));
    out.push_back(std::move(device));
  }
  return out;
}

Result<UlimitList> parse_ulimit_list(std::string_view yaml) {
  UlimitList out;
  for (const data::Value& entry : TRY(entries_of(yaml))) {
    const std::string* type = scalar(entry, "type");
    if (type == nullptr) return data::malformed_at(entry.mark, "an entry has no type");
    if (!is_memlock(*type)) {
      out.others.push_back(*type);
      continue;
    }
    const std::uint64_t hard = TRY(limit(entry, "hard"));
    const std::uint64_t soft = TRY(limit(entry, "soft"));
    if (hard < soft) return data::malformed_at(entry.mark, "hard is below soft");
    out.memlock = std::max(out.memlock.value_or(0), hard);
  }
  return out;
}

Result<std::uint64_t> parse_memlock(std::string_view text) {
  if (text == "unlimited") return container::kUnlimited;
  const auto bytes = parse_unsigned(text);
  if (!bytes) return Error{ErrorCode::malformed, "neither unlimited nor a number of bytes"};
  return *bytes;
}

}  // namespace railhead::inject
