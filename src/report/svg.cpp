// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "data/xml.h"
#include "report/palette.h"
#include "report/svg_device.h"
#include "report/svg_legend.h"

namespace railhead::report {
namespace {

constexpr int kMargin = kPictureMargin;
constexpr int kLeastWidth = kPictureWidth - 2 * kMargin;

using Anchor = TextStyle::Anchor;

constexpr TextStyle kNote{Font::small, Weight::regular, kGrey, Anchor::start};
constexpr TextStyle kBody{Font::name, Weight::regular, kGrey, Anchor::start};

/// Colours for viewers that prefer a dark ground, one for each colour of the light picture. Groups
/// keep their colours, and so does the text on them; only indigo lines change.
constexpr std::string_view kDarkGround =
    "<style>@media (prefers-color-scheme: dark) {\n"
    "rect[fill=\"#ffffff\"], circle[fill=\"#ffffff\"] { fill: #0d1117 }\n"
    "rect[fill=\"#f6f8fa\"], rect[fill=\"#eaeef2\"] { fill: #161b22 }\n"
    "rect[fill=\"#eef5fc\"] { fill: #12283f }\n"
    "rect[fill=\"#f3f4f6\"] { fill: #21262d }\n"
    "rect[fill=\"#fff1f0\"] { fill: #3d1513 }\n"
    "[stroke=\"#ffffff\"] { stroke: #0d1117 }\n"
    "[stroke=\"#afb8c1\"], [stroke=\"#8c959f\"] { stroke: #6e7681 }\n"
    "[stroke=\"#7d9ab8\"] { stroke: #5b80a5 }\n"
    "[stroke=\"#424a53\"] { stroke: #9198a1 }\n"
    "[stroke=\"#332288\"] { stroke: #a99cf0 }\n"
    "[stroke=\"#b3001b\"] { stroke: #ff7b72 }\n"
    "text[fill=\"#1b1f24\"] { fill: #e6edf3 }\n"
    "text[fill=\"#59636e\"] { fill: #9198a1 }\n"
    "text[fill=\"#b3001b\"] { fill: #ff7b72 }\n"
    "}</style>\n";

/// Paints from top to bottom; y_ is where the next thing goes.
class Painter {
 public:
  explicit Painter(const Diagram& diagram)
      : diagram_(diagram),
        sizes_(sizes_for(diagram)),
        layout_(lay_out(diagram, sizes_)) {
    inner_width_ = std::max(layout_.width, kLeastWidth);
  }

  std::string document() {
    paint_head();
    paint_scene();
    paint_legend_line();
    paint_notes();
    return opening() + canvas_.body() + "</svg>\n";
  }

 private:
  void paint_head();
  void paint_lines(const std::string& text);
  void paint_scene();
  void note_links();
  void paint_box(const DiagramLayout::PlacedBox& placed);
  void paint_link(const DiagramLink& link);
  [[nodiscard]] const DiagramLink* link_above(const DiagramLink& link) const;
  void paint_legend_line();
  void paint_notes();
  [[nodiscard]] std::string opening() const;
  [[nodiscard]] Rect moved(Rect at) const;

  const Diagram& diagram_;
  DiagramSizes sizes_;
  DiagramLayout layout_;
  std::vector<std::vector<std::size_t>> arrivals_;  ///< by device: where its links come from
  std::map<std::pair<std::size_t, std::size_t>, const DiagramLink*> links_;  ///< by both ends
  std::map<std::pair<std::size_t, std::size_t>, DiagramLink::Kind> kinds_;   ///< of drawn lines
  SvgCanvas canvas_;
  int inner_width_ = 0;
  int scene_y_ = 0;
  int y_ = kMargin;
};

std::string Painter::opening() const {
  const auto width = std::to_string(inner_width_ + 2 * kMargin);
  const auto height = std::to_string(y_ + kMargin);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
         "\" viewBox=\"0 0 " + width + " " + height +
         "\" role=\"img\" aria-labelledby=\"title desc\" "
         "font-family=\"'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', "
         "sans-serif\">\n<title id=\"title\">" +
         data::xml_escaped(printable(diagram_.title)) + "</title>\n<desc id=\"desc\">" +
         data::xml_escaped(printable(diagram_.description)) + "</desc>\n" +
         std::string(kDarkGround) + "<rect width=\"" + width + "\" height=\"" + height +
         "\" fill=\"#ffffff\"/>\n";
}

Rect Painter::moved(Rect at) const {
  at.x += kMargin;
  at.y += scene_y_;
  return at;
}

void Painter::paint_head() {
  y_ += 20;
  canvas_.text(kMargin, y_, inner_width_, diagram_.title,
               {Font::title, Weight::bold, kInk, Anchor::start});
  for (const auto& line : diagram_.subtitles) paint_lines(line);
  y_ += 14;
}

/// A text on as many lines as it needs.
void Painter::paint_lines(const std::string& text) {
  for (const auto& line : wrap_to(printable(text), inner_width_, static_cast<int>(kBody.font))) {
    y_ += 18;
    canvas_.text(kMargin, y_, inner_width_, line, kBody);
  }
}

void Painter::paint_box(const DiagramLayout::PlacedBox& placed) {
  const auto at = moved(placed.at);
  const auto kind = placed.box->kind;
  ShapeStyle style{"#f6f8fa", "#8c959f", 10, ""};
  if (kind == DiagramBox::Kind::memory) style = {"#eaeef2", "#afb8c1", 8, ""};
  if (kind == DiagramBox::Kind::bridge) style = {"#ffffff", "#afb8c1", 6, ""};
  if (kind == DiagramBox::Kind::hub) style = {"#eef5fc", "#7d9ab8", 6, ""};
  canvas_.open_group(placed.box->tooltip);
  canvas_.rect(at, style);
  TextStyle text{Font::heading, Weight::bold, kInk, Anchor::start};
  if (placed.depth != 0) text = kNote;
  int y = at.y + (placed.depth == 0 ? 18 : 16);
  if (placed.title_below) {
    y = at.bottom() - 6 - (static_cast<int>(placed.box->titles.size()) - 1) * sizes_.title_line;
  }
  for (const auto& line : placed.box->titles) {
    canvas_.text(at.x + 8, y, at.width - 12, line, text);
    text = kNote;
    y += sizes_.title_line;
  }
  canvas_.close_group();
}

/// The link from the same device to the one above in the column; nullptr where there is none.
const DiagramLink* Painter::link_above(const DiagramLink& link) const {
  const auto above = layout_.above[link.to];
  if (!above) return nullptr;
  const auto found = links_.find({link.from, *above});
  return found == links_.end() ? nullptr : found->second;
}

/// A column shares one line to its uppermost device, which is broken only if all of them are.
void Painter::paint_link(const DiagramLink& link) {
  if (link_above(link) != nullptr) return;
  const auto shared = kinds_.find({link.from, link.to});
  const auto kind = shared == kinds_.end() ? link.kind : shared->second;
  const auto from = moved(layout_.devices[link.from]);
  const auto to = moved(layout_.devices[link.to]);
  const auto& arriving = arrivals_[link.to];
  const auto place = std::ranges::find(arriving, link.from) - arriving.begin();
  const int ways = static_cast<int>(arriving.size()) + 1;
  const int x = to.x + to.width * (static_cast<int>(place) + 1) / ways;
  const int start = from.bottom() + 6;
  canvas_.curve(from.middle(), start, x, to.y, " stroke=\"#ffffff\" stroke-width=\"6\"");
  canvas_.curve(from.middle(), start, x, to.y, link_style(link.group, kind));
}

/// Links arrive in the order of where they come from, so that they do not cross at their ends.
void Painter::note_links() {
  arrivals_.resize(diagram_.devices.size());
  for (const auto& link : diagram_.links) {
    links_.emplace(std::pair(link.from, link.to), &link);
    arrivals_[link.to].push_back(link.from);
  }
  for (const auto& link : diagram_.links) {
    const auto* top = &link;
    while (const auto* above = link_above(*top)) top = above;
    const auto [kind, fresh] = kinds_.emplace(std::pair(top->from, top->to), link.kind);
    if (!fresh && link.kind == DiagramLink::Kind::solid) kind->second = link.kind;
  }
  for (auto& arriving : arrivals_) {
    std::ranges::sort(arriving, [&](std::size_t a, std::size_t b) {
      return std::pair(layout_.devices[a].x, a) < std::pair(layout_.devices[b].x, b);
    });
    arriving.erase(std::unique(arriving.begin(), arriving.end()), arriving.end());
  }
}

void Painter::paint_scene() {
  scene_y_ = y_;
  for (const auto& placed : layout_.boxes) paint_box(placed);
  note_links();
  for (const auto& link : diagram_.links) paint_link(link);
  for (std::size_t d = 0; d < diagram_.devices.size(); ++d) {
    paint_device(canvas_, diagram_, diagram_.devices[d], moved(layout_.devices[d]));
  }
  y_ += layout_.height;
}

void Painter::paint_legend_line() {
  y_ = paint_legend(canvas_, diagram_, {kMargin, y_ + 20, inner_width_, 0});
}

void Painter::paint_notes() {
  for (const auto& note : diagram_.notes) {
    if (note.lines.empty()) continue;
    y_ += 28;
    canvas_.text(kMargin, y_, inner_width_, note.heading,
                 {Font::name, Weight::bold, kInk, Anchor::start});
    for (const auto& text : note.lines) paint_lines(text);
  }
}

}  // namespace

std::string to_svg(const Diagram& diagram) {
  return Painter(diagram).document();
}

}  // namespace railhead::report
