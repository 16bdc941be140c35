// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <algorithm>

#include "report/text_width.h"

namespace railhead::report {
namespace {

/// Columns a terminal needs for UTF-8 text without wide characters: bytes that start a character.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

/// Names come from files and other people's machines: nothing in them reaches a terminal that it
/// would act on.
std::string cell_text(const std::vector<std::string>& row, std::size_t column) {
  if (column >= row.size() || row[column].empty()) return "-";
  return printable(row[column]);
}

}  // namespace

std::optional<Format> parse_format(std::string_view text) {
  if (text == "table") return Format::table;
  if (text == "wide") return Format::wide;
  if (text == "json") return Format::json;
  if (text == "yaml") return Format::yaml;
  return std::nullopt;
}

data::Json make_document(std::string_view kind) {
  data::Json document;
  document["apiVersion"] = "railhead.io/v1alpha1";
  document["kind"] = kind;
  return document;
}

std::string render_table(const Table& table, Format format) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].shown == Column::Shown::always || format == Format::wide)
      shown.push_back(c);
  }
  std::vector<std::size_t> widths;
  for (const auto c : shown) {
    std::size_t width = display_width(printable(table.columns[c].header));
    for (const auto& row : table.rows) width = std::max(width, display_width(cell_text(row, c)));
    widths.push_back(width);
  }
  std::string out;
  const auto print_row = [&](const auto& text_of) {
    std::string line;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::string text = text_of(shown[i]);
      line += text;
      if (i + 1 < shown.size()) line.append(widths[i] - display_width(text) + 3, ' ');
    }
    out += line + "\n";
  };
  print_row([&](std::size_t c) { return printable(table.columns[c].header); });
  for (const auto& row : table.rows) {
    print_row([&](std::size_t c) { return cell_text(row, c); });
  }
  return out;
}

std::string render(const Report& report, Format format) {
  if (format == Format::json) return data::to_json_text(report.json);
  if (format == Format::yaml) return data::to_yaml(report.json);
  std::string out;
  for (const auto& section : report.sections) {
    if (!out.empty()) out += "\n";
    if (!section.title.empty()) out += printable(section.title) + "\n";
    if (!section.table.columns.empty()) out += render_table(section.table, format);
    for (const auto& line : section.lines) out += printable(line) + "\n";
  }
  return out;
}

}  // namespace railhead::report
