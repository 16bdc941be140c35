// SPDX-License-Identifier: Apache-2.0
#include "data/toml.h"

#include <algorithm>
#include <optional>
#include <sstream>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

#include "base/text.h"
#include "data/value_builder.h"

namespace railhead::data {
namespace {

Mark mark_of(const toml::node& node) {
  return {node.source().begin.line, node.source().begin.column};
}

template <typename T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string scalar_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return printed(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* date = node.as_date()) return printed(date->get());
  if (const auto* time = node.as_time()) return printed(time->get());
  return printed(node.as_date_time()->get());
}

void build(const toml::node& node, ValueBuilder& builder) {
  if (builder.failed()) return;
  if (const auto* table = node.as_table()) {
    builder.start(Value::Kind::map, mark_of(node));
    for (const auto& [key, value] : *table) {
      builder.key(mark_of(value), std::string(key.str()));
      build(value, builder);
    }
    builder.end();
  } else if (const auto* array = node.as_array()) {
    builder.start(Value::Kind::list, mark_of(node));
    for (const auto& item : *array) build(item, builder);
    builder.end();
  } else {
    builder.scalar(mark_of(node), scalar_of(node), node.is_string());
  }
}

/// toml++ 3.3 makes tables of a key as deep as it has dots, and takes them apart by recursion. The
/// line of such a key; dots of a text count, too, up to what ends a key.
std::optional<unsigned> line_of_deep_key(std::string_view text) {
  constexpr unsigned kMaxDots = 64;
  unsigned line = 1;
  unsigned dots = 0;
  for (const char c : text) {
    if (c == '.' && ++dots > kMaxDots) return line;
    if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '\n') ++line;
  }
  return std::nullopt;
}

Result<toml::table> parse(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error{ErrorCode::too_large, "more than " + std::to_string(limits.bytes) + " bytes"};
  }
  if (const auto line = line_of_deep_key(text)) return malformed_at({*line, 0}, "too many dots");
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
  return is_bare ? key : in_quotes(key, key.size());
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

/// The table with this one value changed, tables made where they are missing.
toml::table with_boolean(toml::table root, const TomlPath& path, bool value) {
  toml::table* table = &root;
  for (auto key = path.begin(); key != path.end() - 1; ++key)
    table = table->insert(*key, toml::table()).first->second.as_table();
  table->insert_or_assign(path.back(), value);
  return root;
}

}  // namespace

Result<Value> parse_toml(std::string_view text, const ParseLimits& limits) {
  const auto root = TRY(parse(text, limits));
  ValueBuilder builder(limits);
  build(root, builder);
  return std::move(builder).finish();
}

Result<std::string> set_toml_boolean(std::string_view text, const TomlPath& path, bool value) {
  const ParseLimits limits;
  const auto root = TRY(parse(text, limits));
  auto edited = TRY(edit(text, root, path, value));
  const auto result = parse(edited, limits);
  if (!result || *result != with_boolean(root, path, value)) {
    return Error{ErrorCode::unsupported,
                 header_of(path) + " " + path.back() +
                     " cannot be set without a change elsewhere in the file"};
  }
  return edited;
}

}  // namespace railhead::data
