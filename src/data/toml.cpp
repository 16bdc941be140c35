// SPDX-License-Identifier: Apache-2.0
#include "data/toml.h"

#include <algorithm>
#include <optional>
#include <sstream>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

#include "base/text.h"
#include "data/value.h"

namespace railhead::data {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

Json json_of(const toml::node& node);

Json json_of(const toml::table& table) {
  Json json = Json::object();
  for (const auto& [key, value] : table) json[std::string(key.str())] = json_of(value);
  return json;
}

template <typename T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

Json json_of(const toml::node& node) {
  if (const auto* table = node.as_table()) return json_of(*table);
  if (const auto* array = node.as_array()) {
    Json json = Json::array();
    for (const auto& item : *array) json.push_back(json_of(item));
    return json;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* date = node.as_date()) return printed(date->get());
  if (const auto* time = node.as_time()) return printed(time->get());
  return printed(node.as_date_time()->get());
}

Result<toml::table> parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return Error{ErrorCode::too_large, "more than " + std::to_string(kMaxBytes) + " bytes"};
  }
  auto parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  const auto& error = parsed.error();
  const auto& begin = error.source().begin;
  return error_at({begin.line, begin.column}, error.description());
}

/// Where this place is in the text; toml++ counts characters, and lines by '\n'.
std::size_t offset_of(std::string_view text, const toml::source_position& place) {
  std::size_t at = 0;
  for (toml::source_index line = 1; line < place.line; ++line) at = text.find('\n', at) + 1;
  const auto is_inside = [&](std::size_t byte) { return (text[byte] & 0xC0) == 0x80; };
  for (toml::source_index column = 1; column < place.column && at < text.size(); ++column) {
    ++at;
    while (at < text.size() && is_inside(at)) ++at;
  }
  return at;
}

std::string written_key(const std::string& key) {
  const bool is_bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return is_bare ? key : Json(key).dump();
}

std::string header_of(const TomlPath& path) {
  std::vector<std::string> keys;
  std::transform(path.begin(), path.end() - 1, std::back_inserter(keys), written_key);
  return "[" + join(keys, ".") + "]";
}

std::string assignment(const TomlPath& path, bool value) {
  return written_key(path.back()) + (value ? " = true" : " = false");
}

/// The line below the header of the table that begins at `begin`. Absent: it has no header.
std::optional<std::string> below_header(std::string_view text, std::size_t begin,
                                        const std::string& line) {
  const std::size_t start = text.rfind('\n', begin == 0 ? 0 : begin - 1);
  const std::size_t from = start == std::string_view::npos || begin == 0 ? 0 : start + 1;
  const std::string_view indent = text.substr(from, begin - from);
  if (begin >= text.size() || text[begin] != '[' ||
      indent.find_first_not_of(" \t") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto end = text.find('\n', begin);
  std::string edited(text.substr(0, end));
  edited += "\n" + std::string(indent) + "  " + line;
  if (end != std::string_view::npos) edited += text.substr(end);
  return edited;
}

std::string with_table_at_end(std::string_view text, const TomlPath& path, bool value) {
  std::string edited(text);
  if (!edited.empty() && edited.back() != '\n') edited += '\n';
  if (!edited.empty()) edited += '\n';
  return edited + header_of(path) + "\n  " + assignment(path, value) + "\n";
}

Result<std::string> edit(std::string_view text, const toml::table& root, const TomlPath& path,
                         bool value) {
  const toml::table* table = &root;
  for (auto key = path.begin(); key != path.end() - 1; ++key) {
    const toml::node* next = table->get(*key);
    if (next == nullptr) return with_table_at_end(text, path, value);
    if (next->as_table() == nullptr) {
      return error_at({next->source().begin.line, next->source().begin.column},
                      in_quotes(*key) + " is no table");
    }
    table = next->as_table();
  }
  const toml::node* old = table->get(path.back());
  if (old == nullptr) {
    auto edited =
        below_header(text, offset_of(text, table->source().begin), assignment(path, value));
    return edited ? *edited : with_table_at_end(text, path, value);
  }
  const auto& begin = old->source().begin;
  if (!old->is_boolean()) {
    return error_at({begin.line, begin.column}, in_quotes(path.back()) + " is no boolean");
  }
  std::string edited(text);
  edited.replace(offset_of(text, begin), old->as_boolean()->get() ? 4 : 5,
                 value ? "true" : "false");
  return edited;
}

/// The order of keys does not matter.
bool is_same(const Json& one, const Json& other) {
  return nlohmann::json(one) == nlohmann::json(other);
}

}  // namespace

Result<Json> parse_toml(std::string_view text) {
  return json_of(TRY(parse(text)));
}

Result<std::string> set_toml_boolean(std::string_view text, const TomlPath& path, bool value) {
  const auto root = TRY(parse(text));
  auto edited = TRY(edit(text, root, path, value));
  Json wanted = json_of(root);
  Json* at = &wanted;
  for (const auto& key : path) at = &(*at)[key];
  *at = value;
  const auto result = parse_toml(edited);
  if (!result || !is_same(*result, wanted)) {
    return Error{ErrorCode::unsupported,
                 header_of(path) + " " + path.back() +
                     " cannot be set without a change elsewhere in the file"};
  }
  return edited;
}

}  // namespace railhead::data
