// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/diagram.h"
#include "report/svg_canvas.h"

namespace railhead::report {

constexpr std::string_view kInk = "#1b1f24";
constexpr std::string_view kGrey = "#59636e";
constexpr std::string_view kRed = "#b3001b";

/// How large the devices of this diagram must be, so that all texts of ordinary length fit.
DiagramSizes sizes_for(const Diagram& diagram);

/// A device with its texts, its colours and its tooltip.
void paint_device(SvgCanvas& canvas, const Diagram& diagram, const DiagramDevice& device,
                  const Rect& at);

/// What is written where the links of the upper device begin.
void paint_tag(SvgCanvas& canvas, const DiagramDevice& device, const Rect& at);

/// The border and ground of devices with this look.
void paint_frame(SvgCanvas& canvas, DiagramLook look, const Rect& at);

enum class Mark : std::uint8_t { full, hollow };

/// The mark of a group: round, or square in the second round of colours.
void paint_mark(SvgCanvas& canvas, const Diagram& diagram, std::size_t group, int x, int y,
                Mark mark);

/// Attributes of a line in the group's colour.
std::string link_style(std::size_t group, DiagramLink::Kind kind);

}  // namespace railhead::report
