// SPDX-License-Identifier: Apache-2.0
#include "report/svg_canvas.h"

#include <algorithm>

#include "base/text.h"
#include "data/xml.h"

namespace railhead::report {
namespace {

std::string attribute(std::string_view name, int value) {
  return " " + std::string(name) + "=\"" + std::to_string(value) + "\"";
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + std::string(value) + "\"";
}

}  // namespace

void SvgCanvas::rect(const Rect& at, const ShapeStyle& style) {
  body_ += "<rect" + attribute("x", at.x) + attribute("y", at.y) + attribute("width", at.width) +
           attribute("height", at.height);
  if (style.radius != 0) body_ += attribute("rx", style.radius);
  body_ += attribute("fill", style.fill);
  if (style.stroke != "none") body_ += attribute("stroke", style.stroke);
  body_ += std::string(style.more) + "/>\n";
}

void SvgCanvas::text(int x, int y, int width, std::string_view content, const TextStyle& style) {
  const int size = static_cast<int>(style.font);
  const auto line = cut_to(printable(content), width, size, style.weight);
  if (line.empty()) return;
  body_ += "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", size);
  if (style.weight == Weight::bold) body_ += attribute("font-weight", "bold");
  if (style.anchor == TextStyle::Anchor::middle) body_ += attribute("text-anchor", "middle");
  if (style.anchor == TextStyle::Anchor::end) body_ += attribute("text-anchor", "end");
  body_ += attribute("fill", style.fill) + ">" + data::xml_escaped(line) + "</text>\n";
}

void SvgCanvas::curve(int x1, int y1, int x2, int y2, std::string_view attributes) {
  const int bend = std::max(24, std::abs(y2 - y1) / 2);
  const auto point = [](int x, int y) { return std::to_string(x) + "," + std::to_string(y); };
  body_ += "<path d=\"M" + point(x1, y1) + " C" + point(x1, y1 + bend) + " " +
           point(x2, y2 - bend) + " " + point(x2, y2) + "\" fill=\"none\"" +
           std::string(attributes) + "/>\n";
}

void SvgCanvas::line(int x1, int y1, int x2, int y2, std::string_view attributes) {
  body_ += "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
           attribute("y2", y2) + std::string(attributes) + "/>\n";
}

void SvgCanvas::open_group(std::string_view tooltip, std::string_view attributes) {
  body_ += "<g" + std::string(attributes) + ">\n";
  if (tooltip.empty()) return;
  std::string lines;
  for (const auto line : split(tooltip, '\n')) {
    lines += (lines.empty() ? "" : "\n") + data::xml_escaped(printable(line));
  }
  body_ += "<title>" + lines + "</title>\n";
}

void SvgCanvas::close_group() {
  body_ += "</g>\n";
}

}  // namespace railhead::report
