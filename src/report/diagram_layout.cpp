// SPDX-License-Identifier: Apache-2.0
#include "report/diagram_layout.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace railhead::report {
namespace {

constexpr int kPad = 6;                                      ///< between a box and what is in it
constexpr int kGap = 8;                                      ///< between neighbours
constexpr int kLeastChannel = 30;                            ///< between boxes of both rows
constexpr int kStackGap = 4;                                 ///< between devices of a column
constexpr int kLineGap = 16;                                 ///< between lines of boxes
constexpr int kWidest = kPictureWidth - 2 * kPictureMargin;  ///< a wider line is broken
constexpr std::size_t kTall = 4;                             ///< devices in a column

constexpr auto kUnlinked = std::numeric_limits<std::size_t>::max();

/// A finished piece of the picture. x counts from its left edge, y from its anchor: the top of the
/// upper row, so that pieces side by side need only be shifted to the right.
struct Part {
  int width = 0;
  int top = 0;  ///< not above 0 where it has an upper row
  int bottom = 0;
  bool upper = false;
  bool lower = false;
  std::size_t order = 0;         ///< of a box among those beside it
  bool is_box = false;           ///< boxes.front() surrounds all the others
  std::size_t rank = kUnlinked;  ///< the first device that links lead here from
  std::vector<DiagramLayout::PlacedBox> boxes;
  std::vector<std::pair<std::size_t, Rect>> devices;
};

void shift(Part& part, int dx, int dy) {
  for (auto& box : part.boxes) {
    box.at.x += dx;
    box.at.y += dy;
  }
  for (auto& [index, at] : part.devices) {
    at.x += dx;
    at.y += dy;
  }
  part.top += dy;
  part.bottom += dy;
}

/// Adds `part` at this place; the whole grows.
void put(Part& whole, Part part, int dx, int dy) {
  shift(part, dx, dy);
  const bool first = whole.boxes.empty() && whole.devices.empty();
  whole.top = first ? part.top : std::min(whole.top, part.top);
  whole.bottom = first ? part.bottom : std::max(whole.bottom, part.bottom);
  whole.width = std::max(whole.width, dx + part.width);
  whole.upper |= part.upper;
  whole.lower |= part.lower;
  whole.rank = std::min(whole.rank, part.rank);
  std::move(part.boxes.begin(), part.boxes.end(), std::back_inserter(whole.boxes));
  std::move(part.devices.begin(), part.devices.end(), std::back_inserter(whole.devices));
}

using Parts = std::vector<Part>;

int total_width(const Parts& parts) {
  const int gaps = parts.empty() ? 0 : static_cast<int>(parts.size() - 1) * kGap;
  return std::accumulate(parts.begin(), parts.end(), gaps,
                         [](int sum, const Part& part) { return sum + part.width; });
}

/// Side by side, spread evenly over this width.
Part spread(Parts parts, int width) {
  const int spare = std::max(0, width - total_width(parts));
  const int count = static_cast<int>(parts.size());
  Part whole;
  int x = 0;
  for (int i = 0; i < count; ++i) {
    auto& part = parts[static_cast<std::size_t>(i)];
    const int part_width = part.width;
    put(whole, std::move(part), x + spare * (2 * i + 1) / (2 * count), 0);
    x += part_width + kGap;
  }
  whole.width = std::max(whole.width, width);
  return whole;
}

void append(Parts& parts, Parts more) {
  std::move(more.begin(), more.end(), std::back_inserter(parts));
}

/// The upper row over the lower one, both spread over the same width; the lower one in the order of
/// where its links come from, so that few of them cross.
Part over(Parts uppers, Parts lowers) {
  std::ranges::stable_sort(lowers, {}, &Part::rank);
  const int width = std::max(total_width(uppers), total_width(lowers));
  Part block = spread(std::move(uppers), width);
  Part below = spread(std::move(lowers), width);
  const int lowest = block.bottom + kLeastChannel;  // boxes around devices take from the channel
  const int dy = std::max(0, lowest - below.top);
  put(block, std::move(below), 0, dy);
  return block;
}

bool holds(const Part& part, std::size_t device) {
  return std::ranges::any_of(part.devices,
                             [device](const auto& placed) { return placed.first == device; });
}

/// The first of these parts that holds the device; their number where none does.
std::size_t place_of(const Parts& parts, std::size_t device) {
  return static_cast<std::size_t>(
      std::ranges::find_if(parts, [device](const Part& part) { return holds(part, device); }) -
      parts.begin());
}

/// A memory node or a package: all of the machine that is not in its neighbours.
bool is_memory(const Part& part) {
  if (!part.is_box) return false;
  const auto kind = part.boxes.front().box->kind;
  return kind == DiagramBox::Kind::memory || kind == DiagramBox::Kind::package;
}

/// Boxes of one line begin and end at the same height, except those in which the upper row alone
/// is: what is below may be theirs. A column without an upper row has its devices beside both rows,
/// at the lower end.
void align(Parts& parts) {
  const auto stands = [](const Part& part) {
    return part.upper && (part.lower || is_memory(part));
  };
  int top = 0;
  int bottom = 0;
  for (const auto& part : parts) {
    if (!stands(part)) continue;
    top = std::min(top, part.top);
    bottom = std::max(bottom, part.bottom);
  }
  if (bottom == 0) return;
  for (auto& part : parts) {
    if (!part.upper && !is_memory(part)) {
      shift(part, 0, std::max(top - part.top, bottom - part.bottom));
    }
    if (stands(part) || !part.upper) bottom = std::max(bottom, part.bottom);
  }
  for (auto& part : parts) {
    if (!part.is_box || (part.upper && !stands(part))) continue;
    auto& at = part.boxes.front().at;
    at.y = part.top = std::min(top, part.top);
    at.height = bottom - at.y;
    part.bottom = bottom;
  }
}

/// Outermost boxes below one another are equally wide.
void widen_lone_boxes(Part& whole) {
  std::vector<DiagramLayout::PlacedBox*> outermost;
  for (auto& box : whole.boxes) {
    if (box.depth == 0) outermost.push_back(&box);
  }
  for (auto* box : outermost) {
    const auto beside = std::ranges::count_if(outermost, [box](const auto* other) {
      return other->at.y < box->at.bottom() && box->at.y < other->at.bottom();
    });
    if (beside == 1) box->at.width = whole.width - box->at.x;  // itself
  }
}

class Placer {
 public:
  Placer(const Diagram& diagram, const DiagramSizes& sizes)
      : diagram_(diagram),
        sizes_(sizes) {}

  DiagramLayout lay_out();

 private:
  Part box_part(const DiagramBox& box, std::size_t depth, std::optional<int> lower_y);
  Part device_part(std::size_t device, int y) const;
  Parts upper_parts(const std::vector<std::size_t>& devices) const;
  enum class Linked : std::uint8_t { no, yes };
  Parts lower_parts(const std::vector<std::size_t>& devices, int lower_y, Linked linked);
  Part framed(const DiagramBox& box, std::size_t depth, Part content) const;
  [[nodiscard]] bool has_upper(const DiagramBox& box) const;
  [[nodiscard]] Parts pairs(Parts uppers, Parts lowers, int widest) const;
  static Part lines_of(Parts parts, int widest);

  const Diagram& diagram_;
  const DiagramSizes& sizes_;
  std::vector<std::optional<std::size_t>> above_;
  std::vector<std::size_t> rank_;  ///< by device: Part::rank
};

bool Placer::has_upper(const DiagramBox& box) const {
  return std::ranges::any_of(
             box.devices,
             [&](std::size_t d) { return diagram_.devices[d].row == DiagramRow::upper; }) ||
         std::ranges::any_of(box.boxes, [&](const DiagramBox& inner) { return has_upper(inner); });
}

Part Placer::device_part(std::size_t device, int y) const {
  const bool upper = diagram_.devices[device].row == DiagramRow::upper;
  const int height = upper ? sizes_.upper_height : sizes_.lower_height;
  Part part;
  part.width = sizes_.device_width;
  part.top = y;
  part.bottom = y + height;
  part.upper = upper;
  part.lower = !upper;
  part.rank = rank_[device];
  part.devices.push_back({device, {0, y, sizes_.device_width, height}});
  return part;
}

Parts Placer::upper_parts(const std::vector<std::size_t>& devices) const {
  Parts parts;
  for (const auto device : devices) {
    if (diagram_.devices[device].row == DiagramRow::upper) parts.push_back(device_part(device, 0));
  }
  return parts;
}

/// Columns: devices of a stack below one another, in several columns where they are many. Those
/// with links are wanted below the upper row, the others beside it.
Parts Placer::lower_parts(const std::vector<std::size_t>& devices, int lower_y, Linked linked) {
  std::vector<std::vector<std::size_t>> stacks;
  std::map<std::size_t, std::size_t> place_of_stack;
  for (const auto device : devices) {
    if (diagram_.devices[device].row == DiagramRow::upper) continue;
    const auto [place, fresh] =
        place_of_stack.emplace(diagram_.devices[device].stack, stacks.size());
    if (fresh) stacks.emplace_back();
    stacks[place->second].push_back(device);
  }
  Parts parts;
  for (const auto& members : stacks) {
    const bool any = std::ranges::any_of(
        members, [&](std::size_t member) { return rank_[member] != kUnlinked; });
    if (any != (linked == Linked::yes)) continue;
    const auto columns = (members.size() + kTall - 1) / kTall;
    const auto rows = (members.size() + columns - 1) / columns;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto row = i % rows;
      if (row == 0) parts.emplace_back();
      if (row != 0) above_[members[i]] = members[i - 1];
      const int y = lower_y + static_cast<int>(row) * (sizes_.lower_height + kStackGap);
      put(parts.back(), device_part(members[i], y), 0, 0);
    }
  }
  return parts;
}

/// The upper row over the lower one: as one part, or as several that no link connects where one
/// would be too wide.
Parts Placer::pairs(Parts uppers, Parts lowers, int widest) const {
  const auto too_wide = std::max(total_width(uppers), total_width(lowers)) > widest;
  std::vector<std::size_t> group(uppers.size() + lowers.size());  // by part, lowers last
  if (too_wide) std::iota(group.begin(), group.end(), std::size_t{0});
  for (const auto& link : diagram_.links) {
    const auto upper = place_of(uppers, link.from);
    const auto lower = place_of(lowers, link.to);
    if (!too_wide || upper == uppers.size() || lower == lowers.size()) continue;
    const auto [from, to] = std::minmax(group[upper], group[uppers.size() + lower]);
    std::ranges::replace(group, std::size_t{to}, std::size_t{from});
  }
  Parts found;
  for (std::size_t g = 0; g < group.size(); ++g) {
    Parts above;
    Parts below;
    for (std::size_t i = g; i < group.size(); ++i) {
      if (group[i] != g) continue;
      const bool upper = i < uppers.size();
      (upper ? above : below).push_back(std::move(upper ? uppers[i] : lowers[i - uppers.size()]));
    }
    if (above.empty()) {
      append(found, std::move(below));
    } else {
      found.push_back(over(std::move(above), std::move(below)));
    }
  }
  return found;
}

Part Placer::lines_of(Parts parts, int widest) {
  Part whole;
  Parts line;
  int y = 0;
  const auto flush = [&] {
    if (line.empty()) return;
    align(line);
    const int width = total_width(line);
    auto done = spread(std::move(line), width);
    line.clear();
    const bool first = whole.boxes.empty() && whole.devices.empty();
    const int dy = first ? 0 : y - done.top;
    y = done.bottom + dy + kLineGap;
    put(whole, std::move(done), 0, dy);
  };
  for (auto& part : parts) {
    if (!line.empty() && total_width(line) + kGap + part.width > widest) flush();
    line.push_back(std::move(part));
  }
  flush();
  return whole;
}

Part Placer::framed(const DiagramBox& box, std::size_t depth, Part content) const {
  const int header = static_cast<int>(box.titles.size()) * sizes_.title_line + kPad;
  const int least = depth < sizes_.title_widths.size() ? sizes_.title_widths[depth] : 0;
  const int inner = std::max(content.width, least);
  // Links to a box without an upper row come from above: its title is out of their way.
  const bool below = !content.upper && content.rank != kUnlinked;
  const int top = below ? kPad : header;
  const int bottom = below ? header : kPad;
  Part part;
  part.is_box = true;
  part.boxes.push_back(
      {&box,
       {0, content.top - top, inner + 2 * kPad, content.bottom - content.top + top + bottom},
       depth,
       below});
  part.top = part.boxes.front().at.y;
  part.bottom = part.boxes.front().at.bottom();
  part.width = inner + 2 * kPad;
  const int dx = kPad + (inner - content.width) / 2;
  put(part, std::move(content), dx, 0);
  return part;
}

Part Placer::box_part(const DiagramBox& box, std::size_t depth, std::optional<int> lower_y) {
  // Rows are at the same height within a memory node; packages may differ.
  if (!lower_y) lower_y = has_upper(box) ? sizes_.upper_height + sizes_.channel : 0;
  const int widest = kWidest - 2 * kPad * (static_cast<int>(depth) + 1);
  auto uppers = upper_parts(box.devices);
  auto linked = lower_parts(box.devices, *lower_y, Linked::yes);
  auto beside = lower_parts(box.devices, *lower_y, Linked::no);
  Parts full;
  if (!uppers.empty() && !linked.empty()) {
    append(full, pairs(std::move(uppers), std::move(linked), widest));
    uppers.clear();
    linked.clear();
  }
  std::size_t order = 0;
  const bool package = box.kind == DiagramBox::Kind::package;
  for (const auto& inner : box.boxes) {
    auto part = box_part(inner, depth + 1, package ? std::nullopt : lower_y);
    part.order = ++order;
    auto& row = package || (part.upper && part.lower) ? full
                : part.upper                          ? uppers
                : part.rank == kUnlinked              ? beside
                                                      : linked;
    row.push_back(std::move(part));
  }
  if (!uppers.empty() && !linked.empty()) {
    append(full, pairs(std::move(uppers), std::move(linked), widest));
  } else {
    append(full, std::move(uppers));
    append(full, std::move(linked));
    std::ranges::stable_sort(full, {}, &Part::order);
  }
  append(full, std::move(beside));
  return framed(box, depth, lines_of(std::move(full), widest));
}

DiagramLayout Placer::lay_out() {
  above_.resize(diagram_.devices.size());
  rank_.resize(diagram_.devices.size(), kUnlinked);
  for (const auto& link : diagram_.links) {
    rank_[link.to] = std::min(rank_[link.to], link.from);
  }
  Parts parts;
  for (const auto& box : diagram_.boxes) parts.push_back(box_part(box, 0, std::nullopt));
  auto whole = lines_of(std::move(parts), kWidest);
  shift(whole, 0, -whole.top);
  widen_lone_boxes(whole);
  DiagramLayout layout;
  layout.boxes = std::move(whole.boxes);
  layout.devices.resize(diagram_.devices.size());
  for (const auto& [device, at] : whole.devices) layout.devices[device] = at;
  layout.above = std::move(above_);
  layout.width = whole.width;
  layout.height = whole.bottom;
  return layout;
}

}  // namespace

DiagramLayout lay_out(const Diagram& diagram, const DiagramSizes& sizes) {
  return Placer(diagram, sizes).lay_out();
}

}  // namespace railhead::report
