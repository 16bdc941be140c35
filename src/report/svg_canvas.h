// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/diagram_layout.h"
#include "report/text_width.h"

namespace railhead::report {

/// Font sizes of the picture, in pixels; it is shown as wide as it is drawn (kPictureWidth).
enum class Font : std::uint8_t { title = 22, heading = 15, name = 13, small = 12, mark = 11 };

struct TextStyle {
  Font font = Font::small;
  Weight weight = Weight::regular;
  std::string_view fill = "#1b1f24";
  enum class Anchor : std::uint8_t { start, middle, end } anchor = Anchor::start;
};

struct ShapeStyle {
  std::string_view fill = "none";
  std::string_view stroke = "none";
  int radius = 0;
  std::string_view more = "";  ///< further attributes, with a space before each
};

/// Elements of an SVG document, one a line. Numbers are whole pixels, so that the same picture is
/// the same text everywhere.
class SvgCanvas {
 public:
  void rect(const Rect& at, const ShapeStyle& style);
  /// At most this wide: what does not fit is cut in its middle. y is the base line.
  void text(int x, int y, int width, std::string_view content, const TextStyle& style);
  /// A curve that leaves downwards and arrives from above.
  void curve(int x1, int y1, int x2, int y2, std::string_view attributes);
  void line(int x1, int y1, int x2, int y2, std::string_view attributes);
  /// `tooltip` may have several lines.
  void open_group(std::string_view tooltip, std::string_view attributes = "");
  void close_group();

  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  std::string body_;
};

}  // namespace railhead::report
