// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/json.h"

namespace railhead::report {

enum class Format : std::uint8_t { table, wide, json, yaml };
std::optional<Format> parse_format(std::string_view text);

struct Column {
  enum class Shown : std::uint8_t { always, wide };
  std::string header;  ///< upper case, as kubectl prints it
  Shown shown = Shown::always;
};

/// Rows of text below headers. A cell that is empty is printed as "-".
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// What a command has to say, once: as data for programs and as tables with a few lines of prose
/// for people. Sinks choose; no command formats text itself, and text for people is made
/// printable().
struct Report {
  data::Json json;  ///< with apiVersion and kind

  struct Section {
    std::string title;  ///< "" for none
    Table table;
    std::vector<std::string> lines;  ///< below the table
  };

  std::vector<Section> sections;
};

/// A JSON object of this kind, with the apiVersion of all our documents.
data::Json make_document(std::string_view kind);

/// kubectl's look: three spaces between columns, nothing drawn around, no trailing blanks.
std::string render_table(const Table& table, Format format);

std::string render(const Report& report, Format format);

/// `1:23` style helper for people: an optional value, or "" (printed as "-").
template <typename T>
std::string text_or_blank(const std::optional<T>& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.value_or("");
  } else {
    return value ? std::to_string(*value) : std::string();
  }
}

/// An optional value as JSON: null when absent, never invented.
template <typename T>
data::Json json_or_null(const std::optional<T>& value) {
  return value ? data::Json(*value) : data::Json(nullptr);
}

}  // namespace railhead::report
