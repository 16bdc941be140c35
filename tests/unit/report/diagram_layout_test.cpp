// SPDX-License-Identifier: Apache-2.0
#include "report/diagram_layout.h"

#include <gtest/gtest.h>

#include <random>

#include "unit/report/sample_diagram.h"

namespace railhead::test {
namespace {

const report::DiagramSizes kSizes{100, 60, 50, 40, 14, {}};

bool overlap(const report::Rect& a, const report::Rect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

bool contains(const report::Rect& outer, const report::Rect& inner) {
  return outer.x < inner.x && outer.y < inner.y && inner.right() < outer.right() &&
         inner.bottom() < outer.bottom();
}

const report::Rect& place_of(const report::DiagramLayout& layout, const report::DiagramBox& box) {
  for (const auto& placed : layout.boxes) {
    if (placed.box == &box) return placed.at;
  }
  throw std::runtime_error("a box was not placed");
}

/// Every box with its own rectangle, its devices and its boxes in it, none on another.
void expect_sound(const report::DiagramLayout& layout, const report::DiagramBox& box) {
  const auto& at = place_of(layout, box);
  std::vector<report::Rect> inside;
  for (const auto device : box.devices) inside.push_back(layout.devices[device]);
  for (const auto& inner : box.boxes) {
    inside.push_back(place_of(layout, inner));
    expect_sound(layout, inner);
  }
  for (std::size_t i = 0; i < inside.size(); ++i) {
    EXPECT_TRUE(contains(at, inside[i])) << box.titles.front() << " " << i;
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(overlap(inside[i], inside[j])) << box.titles.front() << " " << i << " " << j;
  }
  EXPECT_GE(at.x, 0);
  EXPECT_GE(at.y, 0);
  EXPECT_LE(at.right(), layout.width);
  EXPECT_LE(at.bottom(), layout.height);
}

void expect_sound(const report::DiagramLayout& layout, const report::Diagram& diagram) {
  for (const auto& box : diagram.boxes) {
    expect_sound(layout, box);
    for (const auto& other : diagram.boxes) {
      if (&box == &other) continue;
      EXPECT_FALSE(overlap(place_of(layout, box), place_of(layout, other)));
    }
  }
}

TEST(DiagramLayout, each_row_has_one_height_with_the_upper_above_the_lower) {
  const auto diagram = sample_diagram();
  const auto layout = report::lay_out(diagram, kSizes);
  expect_sound(layout, diagram);
  for (std::size_t g = 1; g < 4; ++g) EXPECT_EQ(layout.devices[g].y, layout.devices[0].y);
  EXPECT_EQ(layout.devices[4].y, layout.devices[5].y);
  EXPECT_EQ(layout.devices[4].y, layout.devices[0].y + 60 + 40);
}

TEST(DiagramLayout, a_device_is_in_the_middle_below_those_it_serves) {
  const auto layout = report::lay_out(sample_diagram(), kSizes);
  EXPECT_EQ(layout.devices[4].middle(),
            (layout.devices[0].middle() + layout.devices[1].middle()) / 2);
}

TEST(DiagramLayout, a_stack_is_one_column_beside_both_rows) {
  const auto layout = report::lay_out(sample_diagram(), kSizes);
  EXPECT_EQ(layout.devices[6].x, layout.devices[7].x);
  EXPECT_EQ(layout.above[7], std::optional<std::size_t>(6));
  EXPECT_EQ(layout.above[6], std::nullopt);
  EXPECT_EQ(layout.devices[7].bottom(), layout.devices[4].bottom());
}

TEST(DiagramLayout, boxes_with_the_upper_row_alone_keep_their_place) {
  auto diagram = sample_diagram();
  diagram.boxes[0].boxes[0].devices = {0, 1};  // the lower device goes to the second box
  diagram.boxes[0].boxes[1].devices = {2, 3, 4, 5};
  const auto layout = report::lay_out(diagram, kSizes);
  expect_sound(layout, diagram);
  EXPECT_LT(layout.devices[0].x, layout.devices[2].x);
}

TEST(DiagramLayout, a_line_wider_than_a_screen_goes_on_in_the_next) {
  report::Diagram diagram;
  for (std::size_t i = 0; i < 6; ++i) {
    report::DiagramBox box{report::DiagramBox::Kind::memory, {"node"}, "", {}, {}};
    for (std::size_t g = 0; g < 4; ++g) {
      box.devices.push_back(diagram.devices.size());
      diagram.marks.push_back(std::to_string(diagram.devices.size()));
      diagram.devices.push_back(upper("GPU", diagram.devices.size()));
    }
    diagram.boxes.push_back(box);
  }
  const auto layout = report::lay_out(diagram, kSizes);
  expect_sound(layout, diagram);
  EXPECT_LE(layout.width, report::kPictureWidth - 2 * report::kPictureMargin);
  EXPECT_GT(layout.devices.back().y, layout.devices.front().y);
}

TEST(DiagramLayout, pairs_that_do_not_fit_go_on_in_the_next_line) {
  report::Diagram diagram;
  report::DiagramBox box{report::DiagramBox::Kind::memory, {"node"}, "", {}, {}};
  for (std::size_t i = 0; i < 16; ++i) {
    box.devices.push_back(i);
    diagram.marks.push_back(std::to_string(i));
    diagram.devices.push_back(i < 8 ? upper("GPU", i) : lower("NIC", {i - 8}, i));
  }
  for (std::size_t i = 0; i < 8; ++i)
    diagram.links.push_back({i, i + 8, i, report::DiagramLink::Kind::solid, "PHB"});
  diagram.boxes.push_back(box);
  const auto layout = report::lay_out(diagram, kSizes);
  expect_sound(layout, diagram);
  EXPECT_LE(layout.width, report::kPictureWidth - 2 * report::kPictureMargin);
  EXPECT_GT(layout.devices[7].y, layout.devices[8].bottom())
      << "the eighth is below the first pair";
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(layout.devices[i].x, layout.devices[i + 8].x) << "each is over its own";
}

report::DiagramBox random_box(report::Diagram& diagram, std::mt19937& random, int depth) {
  const auto below = [&](unsigned limit) { return random() % limit; };
  report::DiagramBox box{
      report::DiagramBox::Kind::hub, {"box " + std::to_string(random() % 1000)}, "", {}, {}};
  if (depth < 2)
    box.kind = depth == 0 ? report::DiagramBox::Kind::package : report::DiagramBox::Kind::memory;
  if (below(2) == 0) box.titles.push_back("second line");
  for (auto count = below(4); count > 0; --count) {
    box.devices.push_back(diagram.devices.size());
    diagram.devices.push_back(below(2) == 0 ? upper("u", 0) : lower("l", {}, below(3)));
  }
  for (auto count = depth < 4 ? below(4) : 0; count > 0; --count)
    box.boxes.push_back(random_box(diagram, random, depth + 1));
  if (box.devices.empty() && box.boxes.empty()) {
    box.devices.push_back(diagram.devices.size());
    diagram.devices.push_back(lower("l", {}, 0));
  }
  return box;
}

TEST(DiagramLayout, whatever_the_machine_nothing_overlaps_and_all_is_inside) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    report::Diagram diagram;
    diagram.marks = {"0"};
    for (auto count = 1 + random() % 3; count > 0; --count)
      diagram.boxes.push_back(random_box(diagram, random, 0));
    std::vector<std::size_t> uppers;
    std::vector<std::size_t> lowers;
    for (std::size_t d = 0; d < diagram.devices.size(); ++d)
      (diagram.devices[d].row == report::DiagramRow::upper ? uppers : lowers).push_back(d);
    for (const auto from : uppers) {
      if (lowers.empty() || random() % 3 == 0) continue;
      diagram.links.push_back(
          {from, lowers[random() % lowers.size()], 0, report::DiagramLink::Kind::solid, "PIX"});
    }
    expect_sound(report::lay_out(diagram, kSizes), diagram);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(DiagramLayout, nothing_is_an_empty_picture) {
  const auto layout = report::lay_out({}, kSizes);
  EXPECT_EQ(layout.width, 0);
  EXPECT_EQ(layout.height, 0);
}

}  // namespace
}  // namespace railhead::test
