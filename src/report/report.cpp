// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <algorithm>

#include "base/find.h"
#include "base/text.h"
#include "report/text_width.h"

namespace railhead::report {
namespace {

/// Columns a terminal needs for UTF-8 text without wide characters: bytes that start a character.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// Names come from files and other people's machines, so what would control a terminal is taken out
/// of them.
std::string cell_text(const std::vector<std::string>& row, std::size_t column) {
  if (column >= row.size() || row[column].empty()) return "-";
  return printable(row[column]);
}

constexpr std::size_t kColumnGap = 3;
constexpr std::size_t kLeastText = 16;  ///< a text is cut to no less
constexpr std::string_view kRedInk = "\x1b[31m";
constexpr std::string_view kPlainInk = "\x1b[0m";

std::string cut_cell(std::string text, std::size_t columns) {
  if (display_width(text) <= columns) return text;
  std::size_t characters = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && ++characters == columns) break;
  }
  text.resize(end);
  return text + "…";
}

/// Which columns are printed, and how wide.
struct TableLayout {
  std::vector<std::size_t> columns;  ///< of the table
  std::vector<std::size_t> widths;
  std::vector<std::string> left_out;  ///< headers

  [[nodiscard]] std::size_t width() const {
    std::size_t sum = 0;
    for (const auto width : widths) sum += width + kColumnGap;
    return sum < kColumnGap ? 0 : sum - kColumnGap;
  }

  void leave_out(std::size_t at, const std::string& header) {
    left_out.insert(left_out.begin(), header);
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(at));
    widths.erase(widths.begin() + static_cast<std::ptrdiff_t>(at));
  }
};

TableLayout fit_columns(const Table& table, Column::Shown shown, const PrintStyle& style) {
  TableLayout layout;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].shown > shown) continue;
    std::size_t width = style.headers ? display_width(printable(table.columns[c].header)) : 0;
    for (const auto& row : table.rows) width = std::max(width, display_width(cell_text(row, c)));
    layout.columns.push_back(c);
    layout.widths.push_back(width);
  }
  if (style.columns == 0) return layout;
  // A text that is long is cut first, as far as it remains one.
  const auto cut_widest = [&] {
    const auto total = layout.width();
    if (total <= style.columns) return;
    auto& widest = *std::ranges::max_element(layout.widths);
    const auto excess = total - style.columns;
    widest = std::max(std::min(widest, kLeastText), widest - std::min(widest, excess));
  };
  const auto leave_one_out = [&] {
    for (auto at = layout.columns.size(); at-- > 1;) {
      const auto& column = table.columns[layout.columns[at]];
      if (column.shown == Column::Shown::kept) continue;
      layout.leave_out(at, column.header);
      return true;
    }
    return false;
  };
  const auto all = layout.widths;
  if (cut_widest(); layout.width() <= style.columns) return layout;
  layout.widths = all;
  while (layout.width() > style.columns && leave_one_out()) {
  }
  for (std::size_t i = 0; i < layout.columns.size(); ++i) cut_widest();
  return layout;
}

std::string render_rows(const Table& table, const TableLayout& layout, const PrintStyle& style) {
  std::string out;
  const auto print_row = [&](const auto& text_of, const auto& is_broken) {
    std::string line;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      const std::string text = cut_cell(text_of(layout.columns[i]), layout.widths[i]);
      const bool red = style.color && is_broken(layout.columns[i]);
      line += red ? std::string(kRedInk) + text + std::string(kPlainInk) : text;
      if (i + 1 < layout.columns.size()) {
        line.append(layout.widths[i] - display_width(text) + kColumnGap, ' ');
      }
    }
    out += line + "\n";
  };
  if (style.headers) {
    print_row([&](std::size_t c) { return printable(table.columns[c].header); },
              [](std::size_t) { return false; });
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    print_row([&](std::size_t c) { return cell_text(table.rows[r], c); },
              [&](std::size_t c) {
                return table.broken.contains({r, c});
              });
  }
  return out;
}

/// "" where all columns are there.
std::string left_out_line(const TableLayout& layout, const PrintStyle& style) {
  if (layout.left_out.empty() || !style.headers) return "";
  return cut_cell("no room for " + join(layout.left_out, ", ") + "; -o wide prints all",
                  std::max(style.columns, kLeastText)) +
         "\n";
}

/// The table whose rows alone are data where headers are unwanted; nullptr: all that is no note is.
const Report::Section* sole_data(const Report& report, const PrintStyle& style) {
  if (style.headers) return nullptr;
  return find_where(report.sections, [](const Report::Section& section) {
    return !section.is_note && !section.table.columns.empty();
  });
}

std::string render_sections(const Report& report, Column::Shown shown, const PrintStyle& style) {
  const auto* sole = sole_data(report, style);
  const auto is_printed = [&](bool is_data) {
    return style.printed == Printed::all || (style.printed == Printed::data) == is_data;
  };
  std::string out;
  for (const auto& section : report.sections) {
    const bool is_data = sole == nullptr && !section.is_note;
    std::string text;
    if (!section.title.empty() && is_printed(is_data)) text += printable(section.title) + "\n";
    if (!section.table.columns.empty()) {
      const auto layout = fit_columns(section.table, shown, style);
      if (is_printed(is_data || &section == sole)) {
        text += render_rows(section.table, layout, style);
      }
      if (is_printed(false)) text += left_out_line(layout, style);
    }
    if (is_printed(is_data)) {
      for (const auto& line : section.lines) text += printable(line) + "\n";
    }
    if (!out.empty() && !text.empty()) out += "\n";
    out += text;
  }
  return out;
}

}  // namespace

void Table::add(std::vector<Cell> cells) {
  columns.clear();
  auto& row = rows.emplace_back();
  for (auto& cell : cells) {
    if (cell.is_broken) broken.emplace(rows.size() - 1, columns.size());
    columns.push_back({std::string(cell.header), cell.shown});
    row.push_back(std::move(cell.text));
  }
}

void Report::add(std::string title, std::vector<std::string> lines) {
  if (!lines.empty()) sections.push_back({std::move(title), {}, std::move(lines)});
}

void Report::note(std::string title, std::vector<std::string> lines) {
  if (!lines.empty()) sections.push_back({std::move(title), {}, std::move(lines), true});
}

void Report::add(Table table, std::string otherwise) {
  if (table.rows.empty()) return note("", {std::move(otherwise)});
  sections.push_back({"", std::move(table), {}});
}

data::Json make_document(std::string_view kind) {
  data::Json document;
  document["apiVersion"] = "railhead.io/v1alpha1";
  document["kind"] = kind;
  return document;
}

std::string render_table(const Table& table, Column::Shown shown, const PrintStyle& style) {
  const auto layout = fit_columns(table, shown, style);
  return render_rows(table, layout, style) + left_out_line(layout, style);
}

std::string to_table(const Report& report, const PrintStyle& style) {
  return render_sections(report, Column::Shown::always, style);
}

std::string to_wide_table(const Report& report, const PrintStyle& style) {
  return render_sections(report, Column::Shown::wide,
                         {0, style.headers, style.color, style.printed});
}

std::string to_json(const Report& report, const PrintStyle& style) {
  return style.printed == Printed::notes ? "" : data::to_json_text(report.json);
}

std::string to_yaml(const Report& report, const PrintStyle& style) {
  return style.printed == Printed::notes ? "" : data::to_yaml(report.json);
}

const Format* find_format(std::string_view name) {
  return find_by(kFormats, &Format::name, name);
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& format : kFormats) names.emplace_back(format.name);
  return names;
}

}  // namespace railhead::report
