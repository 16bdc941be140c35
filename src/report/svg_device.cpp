// SPDX-License-Identifier: Apache-2.0
#include "report/svg_device.h"

#include <algorithm>

#include "report/palette.h"

namespace railhead::report {
namespace {

constexpr int kHead = 22;      ///< height of a title
constexpr int kLine = 15;      ///< height of a line below it
constexpr int kFooter = 21;    ///< height of the last line
constexpr int kMark = 17;      ///< a group's mark
constexpr int kMarkStep = 19;  ///< from mark to mark
constexpr int kTag = 16;       ///< height of a tag
constexpr int kStripe = 5;     ///< colours at the left side of a lower device
constexpr int kInset = 10;     ///< from the left side to the text of a lower device
constexpr int kRight = 4;      ///< from the text to the right side
constexpr int kNarrowest = 104;
constexpr int kWidestDevice = 128;  ///< five beside each other, each in a switch of its own

constexpr TextStyle kSmall{Font::small, Weight::regular, kGrey, TextStyle::Anchor::start};

int small_width(std::string_view text) {
  return text_width(printable(text), static_cast<int>(Font::small));
}

int name_width(std::string_view text) {
  return text_width(printable(text), static_cast<int>(Font::name), Weight::bold);
}

int marks_of(const DiagramDevice& device) {
  return static_cast<int>(device.groups.size() + device.guests.size());
}

int inset_of(const DiagramDevice& device) {
  return device.row == DiagramRow::upper ? kInset - 3 : kInset;
}

/// Its lines as they are painted: what is too long goes on in the next.
std::vector<std::string> painted_lines(const DiagramDevice& device, int width) {
  std::vector<std::string> painted;
  for (const auto& line : device.lines) {
    const int room = width - inset_of(device) - kRight;
    for (auto& part : wrap_to(printable(line), room, static_cast<int>(Font::small))) {
      painted.push_back(std::move(part));
    }
  }
  return painted;
}

/// Room that the texts of a device ask for, within reason.
int wanted_width(const DiagramDevice& device) {
  int width = name_width(device.title) + (device.row == DiagramRow::upper ? kMarkStep : 0);
  for (const auto& line : device.lines) width = std::max(width, small_width(line));
  const int marks = device.row == DiagramRow::upper ? 0 : marks_of(device);
  const int beside = marks <= 3 ? marks * kMarkStep : 0;
  const auto weight = device.look == DiagramLook::broken ? Weight::bold : Weight::regular;
  const int footer = text_width(printable(device.footer), static_cast<int>(Font::small), weight);
  width = std::max(width, footer + beside);
  return width + inset_of(device) + kRight + 1;
}

int marks_in_a_row(int width) {
  return std::max(1, (width - kInset - 2) / kMarkStep);
}

/// Rows that marks need below the footer's own.
int further_rows(const DiagramDevice& device, int width) {
  const int marks = marks_of(device);
  if (marks <= 3) return 0;
  const int a_row = marks_in_a_row(width);
  return (marks + a_row - 1) / a_row;
}

std::string_view border_of(DiagramLook look) {
  return look == DiagramLook::broken ? kRed : look == DiagramLook::aside ? "#8c959f" : "#424a53";
}

void paint_lines(SvgCanvas& canvas, const DiagramDevice& device, const Rect& at) {
  const int inset = inset_of(device);
  int y = at.y + kHead + 13;
  for (const auto& line : painted_lines(device, at.width)) {
    canvas.text(at.x + inset, y, at.width - inset - kRight, line, kSmall);
    y += kLine;
  }
}

void paint_upper(SvgCanvas& canvas, const Diagram& diagram, const DiagramDevice& device,
                 const Rect& at) {
  paint_frame(canvas, device.look, at);
  const bool coloured = !device.groups.empty();
  const auto fill = coloured ? colour_of(device.groups.front()).strong : border_of(device.look);
  const auto ink = coloured ? colour_of(device.groups.front()).text : "#ffffff";
  canvas.rect({at.x, at.y, at.width, kHead}, {fill, border_of(device.look), 4, ""});
  const int room = at.width - 12 - (coloured ? kMarkStep : 0);
  canvas.text(at.x + 7, at.y + 16, room, device.title,
              {Font::name, Weight::bold, ink, TextStyle::Anchor::start});
  if (coloured) {
    paint_mark(canvas, diagram, device.groups.front(), at.right() - kMarkStep - 1, at.y + 2,
               Mark::full);
  }
  paint_lines(canvas, device, at);
}

/// The colours of all its groups, one below the other.
void paint_stripe(SvgCanvas& canvas, const DiagramDevice& device, const Rect& at) {
  const int count = static_cast<int>(device.groups.size());
  for (int i = 0; i < count; ++i) {
    const int from = at.height * i / count;
    const int to = at.height * (i + 1) / count;
    canvas.rect({at.x, at.y + from, kStripe, to - from},
                {colour_of(device.groups[static_cast<std::size_t>(i)]).strong, "none", 0, ""});
  }
}

void paint_footer(SvgCanvas& canvas, const Diagram& diagram, const DiagramDevice& device,
                  const Rect& at) {
  const int marks = marks_of(device);
  const bool beside = marks <= 3;
  const int a_row = beside ? 3 : marks_in_a_row(at.width);
  const int rows = beside ? 0 : further_rows(device, at.width);
  const int top = at.bottom() - kFooter - rows * kMarkStep;
  int i = 0;
  const auto paint_next = [&](std::size_t group, Mark mark) {
    paint_mark(canvas, diagram, group, at.x + kInset + i % a_row * kMarkStep,
               top + (beside ? 0 : kMarkStep) + i / a_row * kMarkStep, mark);
    ++i;
  };
  for (const auto group : device.groups) paint_next(group, Mark::full);
  for (const auto group : device.guests) paint_next(group, Mark::hollow);
  auto style = kSmall;
  if (device.look == DiagramLook::broken) {
    style.fill = kRed;
    style.weight = Weight::bold;
  }
  const int used = beside ? marks * kMarkStep : 0;
  if (used != 0) style.anchor = TextStyle::Anchor::end;
  canvas.text(used != 0 ? at.right() - 5 : at.x + kInset, top + 13, at.width - kInset - 5 - used,
              device.footer, style);
}

void paint_lower(SvgCanvas& canvas, const Diagram& diagram, const DiagramDevice& device,
                 const Rect& at) {
  paint_frame(canvas, device.look, at);
  paint_stripe(canvas, device, at);
  canvas.text(at.x + kInset, at.y + 17, at.width - kInset - kRight, device.title,
              {Font::name, Weight::bold, device.look == DiagramLook::aside ? kGrey : kInk,
               TextStyle::Anchor::start});
  paint_lines(canvas, device, at);
  paint_footer(canvas, diagram, device, at);
}

/// Width of the longest title of boxes in others: the least that a device in them may have.
int inner_title_width(const std::vector<DiagramBox>& boxes) {
  int width = 0;
  for (const auto& box : boxes) {
    for (const auto& inner : box.boxes) {
      for (const auto& title : inner.titles) width = std::max(width, small_width(title));
    }
    width = std::max(width, inner_title_width(box.boxes));
  }
  return width;
}

}  // namespace

DiagramSizes sizes_for(const Diagram& diagram) {
  DiagramSizes sizes;
  sizes.title_line = 15;
  sizes.device_width = std::clamp(inner_title_width(diagram.boxes), kNarrowest, kWidestDevice);
  for (const auto& device : diagram.devices) {
    sizes.device_width = std::clamp(wanted_width(device), sizes.device_width, kWidestDevice);
  }
  for (const auto& device : diagram.devices) {
    const auto count = painted_lines(device, sizes.device_width).size();
    const int lines = kHead + static_cast<int>(count) * kLine;
    if (device.row == DiagramRow::upper) {
      sizes.upper_height = std::max(sizes.upper_height, lines + 5 + kTag / 2);
    } else {
      const int rows = further_rows(device, sizes.device_width);
      sizes.lower_height = std::max(sizes.lower_height, lines + kFooter + 3 + rows * kMarkStep);
    }
  }
  const bool linked = !diagram.links.empty();
  sizes.channel = linked ? 60 : 24;
  for (const auto& box : diagram.boxes) {
    for (const auto& title : box.titles) {
      const int wanted =
          text_width(printable(title), static_cast<int>(Font::heading), Weight::bold);
      if (sizes.title_widths.empty()) sizes.title_widths.push_back(0);
      sizes.title_widths[0] = std::clamp(wanted, sizes.title_widths[0], 2 * sizes.device_width);
    }
  }
  return sizes;
}

void paint_frame(SvgCanvas& canvas, DiagramLook look, const Rect& at) {
  ShapeStyle style{"#ffffff", border_of(look), 4, ""};
  if (look == DiagramLook::aside) {
    style.fill = "#f3f4f6";
    style.more = " stroke-dasharray=\"4 3\"";
  } else if (look == DiagramLook::broken) {
    style.fill = "#fff1f0";
    style.more = " stroke-width=\"2\" stroke-dasharray=\"6 3\"";
  }
  canvas.rect(at, style);
}

void paint_mark(SvgCanvas& canvas, const Diagram& diagram, std::size_t group, int x, int y,
                Mark mark) {
  const auto& colour = colour_of(group);
  const int radius = is_second_round(group) ? 2 : kMark / 2;
  const bool full = mark == Mark::full;
  canvas.rect({x, y, kMark, kMark},
              {full ? colour.strong : "#ffffff", full ? "#ffffff" : colour.strong, radius,
               full ? "" : " stroke-width=\"2\""});
  canvas.text(x + kMark / 2, y + 13, kMark + 4, diagram.marks[group],
              {Font::mark, Weight::bold, full ? colour.text : kInk, TextStyle::Anchor::middle});
}

std::string link_style(std::size_t group, DiagramLink::Kind kind) {
  if (kind == DiagramLink::Kind::broken) {
    return " stroke=\"" + std::string(kRed) + "\" stroke-width=\"2\" stroke-dasharray=\"6 4\"";
  }
  auto style = " stroke=\"" + std::string(colour_of(group).strong) + "\" stroke-width=\"3\"";
  if (kind == DiagramLink::Kind::stand_in) {
    style += " stroke-dasharray=\"1 5\" stroke-linecap=\"round\"";
  } else if (is_second_round(group)) {
    style += " stroke-dasharray=\"9 3\"";
  }
  return style;
}

void paint_tag(SvgCanvas& canvas, const DiagramDevice& device, const Rect& at) {
  if (device.tag.empty()) return;
  const bool broken = device.tag_look == DiagramLook::broken;
  const TextStyle style{Font::mark, Weight::bold, broken ? kRed : kInk, TextStyle::Anchor::middle};
  const int width =
      std::min(at.width - 8,
               text_width(printable(device.tag), static_cast<int>(style.font), style.weight) + 12);
  const auto stroke = broken                  ? kRed
                      : device.groups.empty() ? border_of(device.look)
                                              : colour_of(device.groups.front()).strong;
  canvas.rect({at.middle() - width / 2, at.bottom() - kTag / 2, width, kTag},
              {"#ffffff", stroke, kTag / 2, " stroke-width=\"1\""});
  canvas.text(at.middle(), at.bottom() + 4, width - 6, device.tag, style);
}

void paint_device(SvgCanvas& canvas, const Diagram& diagram, const DiagramDevice& device,
                  const Rect& at) {
  canvas.open_group(device.tooltip.empty() ? device.title : device.tooltip);
  if (device.row == DiagramRow::upper) {
    paint_upper(canvas, diagram, device, at);
    paint_tag(canvas, device, at);
  } else {
    paint_lower(canvas, diagram, device, at);
  }
  canvas.close_group();
}

}  // namespace railhead::report
