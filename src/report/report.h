// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/json.h"

namespace railhead::report {

struct Column {
  /// Where a terminal is too narrow for all of `always`, the last of them goes first; what is
  /// `kept` stays.
  enum class Shown : std::uint8_t { kept, always, wide };
  std::string header;  ///< upper case, as kubectl prints it
  Shown shown = Shown::always;
};

inline constexpr auto kKept = Column::Shown::kept;
inline constexpr auto kWide = Column::Shown::wide;

/// A cell with the header of its column.
struct Cell {
  std::string_view header;
  std::string text;
  Column::Shown shown = Column::Shown::always;
  bool is_broken = false;  ///< what a person should see at once
};

/// Rows of text below headers. A cell that is empty is printed as "-".
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::set<std::pair<std::size_t, std::size_t>> broken{};  ///< row and column

  /// Adds a row. Its cells name the columns, which are the same in every row.
  void add(std::vector<Cell> cells);
};

/// Which sections are printed. `data` and `notes` are everything together: without headers, the
/// rows of the first table that is data are the data, and everything else is a note.
enum class Printed : std::uint8_t { all, data, notes };

/// How text for people is printed.
struct PrintStyle {
  std::size_t columns = 0;  ///< what a table has to fit in; 0: everything is printed
  bool headers = true;
  bool color = false;  ///< what is broken is red
  Printed printed = Printed::all;
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
    bool is_note = false;            ///< a warning, a legend, or that there is nothing
  };

  std::vector<Section> sections;

  /// Adds a section of lines; none where there are no lines.
  void add(std::string title, std::vector<std::string> lines);
  /// Adds a section of lines that is a note; none where there are no lines.
  void note(std::string title, std::vector<std::string> lines);
  /// Adds a section with the table, or a note, `otherwise`, where the table has no row.
  void add(Table table, std::string otherwise);
};

/// A JSON object of this kind, with the apiVersion of all our documents.
data::Json make_document(std::string_view kind);

/// kubectl's look: three spaces between columns, nothing drawn around, no trailing blanks.
/// `shown`: up to which columns. Where they do not fit, columns go, then the widest text is cut,
/// and a last line names what is missing.
std::string render_table(const Table& table, Column::Shown shown, const PrintStyle& style = {});

std::string to_table(const Report& report, const PrintStyle& style = {});
std::string to_wide_table(const Report& report, const PrintStyle& style = {});
std::string to_json(const Report& report, const PrintStyle& style = {});
std::string to_yaml(const Report& report, const PrintStyle& style = {});

/// A way to print any report, by its word for --output.
struct Format {
  std::string_view name;
  std::string (*render)(const Report& report, const PrintStyle& style);
};

/// Every command has these.
inline constexpr std::array kFormats = {
    Format{"table", to_table},      // for people; the default
    Format{"wide", to_wide_table},  // for people, with the columns that seldom matter
    Format{"json", to_json},        // for programs: all that is known
    Format{"yaml", to_yaml},        // the same document
};

/// nullptr where no format has this name.
const Format* find_format(std::string_view name);

/// In the order of the table.
std::vector<std::string> format_names();

/// `1:23` style helper for people: an optional value, or "" (printed as "-").
template <typename T>
std::string text_or_blank(const std::optional<T>& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.value_or("");
  } else {
    return value ? std::to_string(*value) : std::string();
  }
}

/// A text as JSON: null where it is empty.
inline data::Json text_or_null(const std::string& text) {
  return text.empty() ? data::Json(nullptr) : data::Json(text);
}

/// An optional value as JSON: null when absent, never invented.
template <typename T>
data::Json json_or_null(const std::optional<T>& value) {
  return value ? data::Json(*value) : data::Json(nullptr);
}

}  // namespace railhead::report
