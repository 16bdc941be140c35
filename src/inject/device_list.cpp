// SPDX-License-Identifier: Apache-2.0
#include "inject/device_list.h"

#include <algorithm>

#include "base/text.h"
#include "container/adjustment.h"

namespace railhead {
namespace {

Result<std::vector<Value>> entries_of(std::string_view yaml) {
  Value list = TRY(parse_yaml(yaml, kAnnotationLimits));
  if (list.kind == Value::Kind::null) return std::vector<Value>{};
  if (list.kind != Value::Kind::list) return malformed_at(list.mark, "no list");
  for (const Value& entry : list.items) {
    if (entry.kind != Value::Kind::map) return malformed_at(entry.mark, "an entry is no map");
  }
  return std::move(list.items);
}

const std::string* scalar(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->kind == Value::Kind::scalar ? &value->scalar : nullptr;
}

Result<std::optional<std::int64_t>> number(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  if (value == nullptr || value->kind == Value::Kind::null) return std::optional<std::int64_t>{};
  return std::optional<std::int64_t>{TRY(value->as_signed())};
}

/// Permission bits as people write them: 0666, 0o666, or a plain number.
Result<std::optional<std::int64_t>> file_mode(const Value& map) {
  const std::string* text = scalar(map, "file_mode");
  if (text == nullptr || text->size() < 2 || (*text)[0] != '0' || (*text)[1] == 'x') {
    return number(map, "file_mode");
  }
  std::int64_t mode = 0;
  for (const char digit : std::string_view(*text).substr((*text)[1] == 'o' ? 2 : 1)) {
    if (digit < '0' || digit > '7' || mode > 07777) {
      return malformed_at(map.mark, "file_mode is no octal number");
    }
    mode = mode * 8 + (digit - '0');
  }
  return std::optional<std::int64_t>{mode};
}

std::optional<std::int64_t> unless_zero(std::optional<std::int64_t> value) {
  return value == 0 ? std::nullopt : value;
}

Result<std::uint64_t> limit(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  if (value == nullptr || value->kind == Value::Kind::null) return std::uint64_t{0};
  if (value->kind == Value::Kind::scalar && to_lower(value->scalar) == "unlimited") {
    return kUnlimited;
  }
  return value->as_unsigned();
}

bool is_memlock(std::string_view type) {
  const std::string lower = to_lower(type);
  return lower == "memlock" || lower == "rlimit_memlock";
}

}  // namespace

Result<std::vector<AskedDevice>> parse_device_list(std::string_view yaml) {
  std::vector<AskedDevice> out;
  for (const Value& entry : TRY(entries_of(yaml))) {
    AskedDevice device;
    const std::string* path = scalar(entry, "path");
    if (path == nullptr || path->empty()) return malformed_at(entry.mark, "an entry has no path");
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
  for (const Value& entry : TRY(entries_of(yaml))) {
    const std::string* type = scalar(entry, "type");
    if (type == nullptr) return malformed_at(entry.mark, "an entry has no type");
    if (!is_memlock(*type)) {
      out.others.push_back(*type);
      continue;
    }
    const std::uint64_t hard = TRY(limit(entry, "hard"));
    const std::uint64_t soft = TRY(limit(entry, "soft"));
    if (hard < soft) return malformed_at(entry.mark, "hard is below soft");
    out.memlock = std::max(out.memlock.value_or(0), hard);
  }
  return out;
}

Result<std::uint64_t> parse_memlock(std::string_view text) {
  if (text == "unlimited") return kUnlimited;
  const auto bytes = parse_unsigned(text);
  if (!bytes) return Error{ErrorCode::malformed, "neither unlimited nor a number of bytes"};
  return *bytes;
}

}  // namespace railhead
