// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "report/diagram.h"

namespace railhead::report {

/// Width at which a page shows a picture (GitHub's column of text): wider ones would be shrunk, and
/// their text with them. A picture is wider only where links lead from many devices to one.
inline constexpr int kPictureWidth = 830;
inline constexpr int kPictureMargin = 16;

/// Pixels, from the left and from the top.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  [[nodiscard]] int right() const { return x + width; }

  [[nodiscard]] int bottom() const { return y + height; }

  [[nodiscard]] int middle() const { return x + width / 2; }

  friend bool operator==(const Rect&, const Rect&) = default;
};

/// What the painter needs for one device of each row, and for the title of a box.
struct DiagramSizes {
  int device_width = 0;
  int upper_height = 0;
  int lower_height = 0;
  int channel = 0;  ///< between the rows, for links
  int title_line = 0;
  std::vector<int> title_widths;  ///< least width of a box by its depth; empty: as its content
};

/// Where everything is. Neighbours never overlap, and what is in a box is inside of it.
struct DiagramLayout {
  struct PlacedBox {
    const DiagramBox* box = nullptr;
    Rect at;
    std::size_t depth = 0;
    bool title_below = false;  ///< links come from above
  };

  std::vector<PlacedBox> boxes;                   ///< outer before inner
  std::vector<Rect> devices;                      ///< as Diagram::devices
  std::vector<std::optional<std::size_t>> above;  ///< the device above it in its column, if any
  int width = 0;
  int height = 0;
};

/// Places a diagram. Within a box that has both rows, the upper row is over the lower row, on the
/// same height in all boxes of a line; boxes that have one row only share columns, the upper ones
/// over the lower ones. What would be wider than the picture goes on in a further line.
/// The diagram must outlive the layout.
DiagramLayout lay_out(const Diagram& diagram, const DiagramSizes& sizes);

}  // namespace railhead::report
