// SPDX-License-Identifier: Apache-2.0
#include "report/svg_legend.h"

#include <algorithm>

#include "report/svg_device.h"

namespace railhead::report {
namespace {

constexpr int kRow = 24;
constexpr int kSample = 48;  ///< width of a sample
constexpr int kBetween = 20;

constexpr TextStyle kMeaning{Font::name, Weight::regular, kGrey, TextStyle::Anchor::start};

bool has_look(const Diagram& diagram, DiagramLook look) {
  return std::ranges::any_of(diagram.devices,
                             [look](const DiagramDevice& device) { return device.look == look; });
}

/// Signs one after the other, on a further line where one is full.
class Legend {
 public:
  Legend(SvgCanvas& canvas, const Rect& at)
      : canvas_(canvas),
        at_(at),
        x_(at.x),
        y_(at.y) {}

  /// Makes room for a sample with this meaning and writes the meaning; the sample's corner.
  Rect next(const std::string& meaning) {
    const int text = text_width(printable(meaning), static_cast<int>(kMeaning.font));
    const int width = std::min(kSample + 8 + text, at_.width);
    if (x_ != at_.x && x_ + width > at_.right()) {
      x_ = at_.x;
      y_ += kRow;
    }
    const Rect sample{x_, y_, kSample, 16};
    canvas_.text(x_ + kSample + 8, y_ + 12, width - kSample - 8, meaning, kMeaning);
    x_ += width + kBetween;
    any_ = true;
    return sample;
  }

  [[nodiscard]] int bottom() const { return any_ ? y_ + 16 : at_.y - 20; }

 private:
  SvgCanvas& canvas_;
  Rect at_;
  int x_ = 0;
  int y_ = 0;
  bool any_ = false;
};

void paint_line(SvgCanvas& canvas, const Rect& at, std::string_view style) {
  canvas.line(at.x, at.y + 8, at.right(), at.y + 8, style);
}

}  // namespace

int paint_legend(SvgCanvas& canvas, const Diagram& diagram, const Rect& at) {
  Legend legend(canvas, at);
  const auto linked = [&](DiagramLink::Kind kind) {
    return std::ranges::any_of(diagram.links,
                               [kind](const DiagramLink& link) { return link.kind == kind; });
  };
  if (!diagram.links.empty()) {
    const auto sample = legend.next(diagram.meaning_of_links);
    const auto group = diagram.links.front().group;
    paint_line(canvas, sample, link_style(group, DiagramLink::Kind::solid));
    paint_mark(canvas, diagram, group, sample.x + 16, sample.y, Mark::full);
  }
  if (linked(DiagramLink::Kind::stand_in)) {
    const auto sample = legend.next(diagram.meaning_of_stand_in);
    const auto group = diagram.links.front().group;
    paint_line(canvas, sample, link_style(group, DiagramLink::Kind::stand_in));
    paint_mark(canvas, diagram, group, sample.x + 16, sample.y, Mark::hollow);
  }
  for (const auto& [word, meaning] : diagram.words) {
    const bool occurs = std::ranges::any_of(
        diagram.links, [&word = word](const DiagramLink& link) { return link.label == word; });
    if (!occurs) continue;
    DiagramDevice sample;
    sample.tag = word;
    auto corner = legend.next(meaning);
    paint_tag(canvas, sample, {corner.x - 4, corner.y, corner.width + 8, 8});
  }
  for (const auto look : {DiagramLook::aside, DiagramLook::broken}) {
    if (!has_look(diagram, look)) continue;
    const auto& meaning =
        look == DiagramLook::aside ? diagram.meaning_of_aside : diagram.meaning_of_broken;
    auto sample = legend.next(meaning);
    sample.x += 6;
    sample.width -= 12;
    paint_frame(canvas, look, sample);
  }
  return legend.bottom();
}

}  // namespace railhead::report
