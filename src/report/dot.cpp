// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "report/diagram.h"
#include "report/palette.h"
#include "report/text_width.h"

namespace railhead::report {
namespace {

constexpr std::size_t kMostLetters = 120;  ///< of a line in a label

/// A double-quoted string of the DOT language: only the quote needs an escape, and the backslash
/// begins those of labels (https://graphviz.org/docs/attr-types/escString/). Lines end in \n.
std::string dot_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// Lines in the middle (`end` is "\\n") or at the left side ("\\l").
std::string quoted_lines(const std::vector<std::string>& lines, std::string_view end = "\\n") {
  std::string out = "\"";
  for (const auto& line : lines) {
    if (out.size() > 1) out += end;
    out += dot_text(line.size() > kMostLetters ? cut_to(line, 700, 10) : line);
  }
  if (end == "\\l") out += end;
  return out + "\"";
}

std::string indent(std::size_t depth) {
  return std::string(2 * (depth + 1), ' ');
}

std::string device_name(std::size_t device) {
  return "d" + std::to_string(device);
}

/// Several colours are stripes; text stays black, so they are tints.
std::string fill_of(const DiagramDevice& device) {
  std::string colours;
  for (const auto group : device.groups) {
    colours += (colours.empty() ? "" : ":") + std::string(colour_of(group).tint);
  }
  if (device.look == DiagramLook::broken) return "\"#fff1f0\"";
  return "\"" + (colours.empty() ? "#f3f4f6" : colours) + "\"";
}

std::string style_of(const DiagramDevice& device) {
  const bool striped = device.look != DiagramLook::broken && device.groups.size() > 1;
  const bool whole = device.look == DiagramLook::normal;
  return std::string("\"") + (striped ? "striped" : "filled") + (whole ? "" : ",dashed") + "\"";
}

class Writer {
 public:
  explicit Writer(const Diagram& diagram)
      : diagram_(diagram) {}

  std::string document() {
    out_ = "digraph railhead {\n  graph [label=" + title() +
           ", labelloc=t, labeljust=l, fontname=\"sans-serif\", fontsize=12, compound=true, "
           "ranksep=0.8];\n"
           "  node [shape=box, fontname=\"sans-serif\", fontsize=10, margin=\"0.1,0.05\"];\n"
           "  edge [fontname=\"sans-serif\", fontsize=9, arrowhead=none, penwidth=2];\n";
    for (const auto& box : diagram_.boxes) write_box(box, 0);
    for (const auto& link : diagram_.links) write_link(link);
    return out_ + "}\n";
  }

 private:
  [[nodiscard]] std::string title() const {
    auto lines = diagram_.subtitles;
    lines.insert(lines.begin(), diagram_.title);
    return quoted_lines(lines, "\\l");
  }

  void write_box(const DiagramBox& box, std::size_t depth) {
    const bool hub = box.kind == DiagramBox::Kind::hub;
    out_ += indent(depth) + "subgraph cluster_" + std::to_string(clusters_++) + " {\n" +
            indent(depth + 1) + "label=" + quoted_lines(box.titles, "\\l") + "; style=\"" +
            (hub ? "filled,rounded" : "filled") + "\"; color=\"#8c959f\"; fillcolor=\"" +
            (hub          ? "#eef5fc"
             : depth == 0 ? "#eaeef2"
                          : "#f6f8fa") +
            "\"; fontsize=10;\n";
    // Last first: within a cluster dot goes from the right to the left.
    std::for_each(box.devices.rbegin(), box.devices.rend(),
                  [&](std::size_t device) { write_device(device, depth + 1); });
    std::for_each(box.boxes.rbegin(), box.boxes.rend(),
                  [&](const DiagramBox& inner) { write_box(inner, depth + 1); });
    out_ += indent(depth) + "}\n";
  }

  void write_device(std::size_t index, std::size_t depth) {
    const auto& device = diagram_.devices[index];
    std::vector<std::string> lines = {device.title};
    lines.insert(lines.end(), device.lines.begin(), device.lines.end());
    if (!device.footer.empty()) lines.push_back(device.footer);
    if (device.row == DiagramRow::lower && !device.groups.empty()) lines.push_back(marks(device));
    out_ += indent(depth) + device_name(index) + " [label=" + quoted_lines(lines) +
            ", style=" + style_of(device) + ", fillcolor=" + fill_of(device) + ", color=\"" +
            (device.look == DiagramLook::broken ? "#b3001b" : "#424a53") +
            "\", tooltip=" + quoted_lines(as_lines(device.tooltip)) + "];\n";
  }

  [[nodiscard]] std::string marks(const DiagramDevice& device) const {
    const auto mark = [this](std::size_t group) { return diagram_.marks[group]; };
    return "[" + join(device.groups, " ", mark) + "]";
  }

  static std::vector<std::string> as_lines(std::string_view text) {
    std::vector<std::string> lines;
    for (const auto line : split(text, '\n')) lines.emplace_back(line);
    return lines;
  }

  void write_link(const DiagramLink& link) {
    const bool broken = link.kind == DiagramLink::Kind::broken;
    const auto colour = broken ? "#b3001b" : colour_of(link.group).strong;
    const auto style = broken                                     ? "dashed"
                       : link.kind == DiagramLink::Kind::stand_in ? "dotted"
                                                                  : "solid";
    out_ += "  " + device_name(link.from) + " -> " + device_name(link.to) +
            " [label=" + quoted_lines({link.label}) + ", color=\"" + std::string(colour) +
            "\", style=" + style + "];\n";
  }

  const Diagram& diagram_;
  std::string out_;
  std::size_t clusters_ = 0;
};

}  // namespace

std::string to_dot(const Diagram& diagram) {
  return Writer(diagram).document();
}

}  // namespace railhead::report
