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

std::string render_sections(const Report& report, Column::Shown shown) {
  std::string out;
  for (const auto& section : report.sections) {
    if (!out.empty()) out += "\n";
    if (!section.title.empty()) out += printable(section.title) + "\n";
    if (!section.table.columns.empty()) out += render_table(section.table, shown);
    for (const auto& line : section.lines) out += printable(line) + "\n";
  }
  return out;
}

}  // namespace

void Table::add(std::vector<Cell> cells) {
  columns.clear();
  auto& row = rows.emplace_back();
  for (auto& cell : cells) {
    columns.push_back({std::string(cell.header), cell.shown});
    row.push_back(std::move(cell.text));
  }
}

void Report::add(std::string title, std::vector<std::string> lines) {
  if (!lines.empty()) sections.push_back({std::move(title), {}, std::move(lines)});
}

void Report::add(Table table, std::string otherwise) {
  if (table.rows.empty()) return add("", {std::move(otherwise)});
  sections.push_back({"", std::move(table), {}});
}

data::Json make_document(std::string_view kind) {
  data::Json document;
  document["apiVersion"] = "railhead.io/v1alpha1";
  document["kind"] = kind;
  return document;
}

std::string render_table(const Table& table, Column::Shown shown) {
  std::vector<std::size_t> printed;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].shown <= shown) printed.push_back(c);
  }
  std::vector<std::size_t> widths;
  for (const auto c : printed) {
    std::size_t width = display_width(printable(table.columns[c].header));
    for (const auto& row : table.rows) width = std::max(width, display_width(cell_text(row, c)));
    widths.push_back(width);
  }
  std::string out;
  const auto print_row = [&](const auto& text_of) {
    std::string line;
    for (std::size_t i = 0; i < printed.size(); ++i) {
      const std::string text = text_of(printed[i]);
      line += text;
      if (i + 1 < printed.size()) line.append(widths[i] - display_width(text) + 3, ' ');
    }
    out += line + "\n";
  };
  print_row([&](std::size_t c) { return printable(table.columns[c].header); });
  for (const auto& row : table.rows) {
    print_row([&](std::size_t c) { return cell_text(row, c); });
  }
  return out;
}

std::string to_table(const Report& report) {
  return render_sections(report, Column::Shown::always);
}

std::string to_wide_table(const Report& report) {
  return render_sections(report, Column::Shown::wide);
}

std::string to_json(const Report& report) {
  return data::to_json_text(report.json);
}

std::string to_yaml(const Report& report) {
  return data::to_yaml(report.json);
}

const Format* find_format(std::string_view name) {
  const auto* at = std::find_if(kFormats.begin(), kFormats.end(),
                                [&](const Format& format) { return format.name == name; });
  return at == kFormats.end() ? nullptr : at;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& format : kFormats) names.emplace_back(format.name);
  return names;
}

}  // namespace railhead::report
