// SPDX-License-Identifier: Apache-2.0
#include "report/diagram.h"

#include <gmock/gmock.h>

#include "report/svg_canvas.h"
#include "unit/report/sample_diagram.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Svg, has_a_size_a_title_a_description_and_a_ground_of_its_own) {
  auto diagram = sample_diagram();
  diagram.description = "which is near";
  const auto svg = report::to_svg(diagram);
  EXPECT_THAT(svg, testing::MatchesRegex("<svg [^>]*width=\"[0-9]+\" height=\"[0-9]+\" "
                                         "viewBox=\"0 0 [0-9]+ [0-9]+\"[^>]*>\n(.|\n)*</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("<title id=\"title\">sample</title>"));
  EXPECT_THAT(svg, HasSubstr("<desc id=\"desc\">which is near</desc>"));
  EXPECT_THAT(svg, HasSubstr("fill=\"#ffffff\"/>"));
}

TEST(Svg, the_same_diagram_is_the_same_text) {
  EXPECT_EQ(report::to_svg(sample_diagram()), report::to_svg(sample_diagram()));
}

TEST(Svg, hostile_text_stays_text) {
  const std::string hostile = "</text><script>x</script>&\"'\x01\xff\n";
  auto diagram = sample_diagram();
  diagram.title = diagram.description = hostile;
  diagram.subtitles = {hostile};
  for (auto& device : diagram.devices) {
    device.title = device.footer = device.tooltip = device.tag = hostile;
    device.lines = {hostile};
  }
  for (auto& mark : diagram.marks) mark = hostile;
  for (auto& box : diagram.boxes) {
    box.titles = {hostile};
    box.tooltip = hostile;
  }
  diagram.notes = {{hostile, {hostile}}};
  const auto svg = report::to_svg(diagram);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\x01")));
  EXPECT_THAT(svg, Not(HasSubstr("\xff")));
  EXPECT_EQ(count_of(svg, "<text"), count_of(svg, "</text>"));
  EXPECT_THAT(svg, HasSubstr("&lt;/text&gt;"));
}

TEST(Svg, each_group_is_marked_at_both_ends) {
  const auto svg = report::to_svg(sample_diagram());
  for (const char* mark : {">1</text>", ">2</text>", ">3</text>"})
    EXPECT_EQ(count_of(svg, mark), 2U) << mark;
  EXPECT_EQ(count_of(svg, ">0</text>"), 3U) << "and in the legend";
}

TEST(Svg, the_legend_has_the_signs_that_occur) {
  auto diagram = sample_diagram();
  EXPECT_THAT(report::to_svg(diagram), HasSubstr(">near<"));
  for (const char* absent : {">far<", ">not dealt<", ">not usable<", ">stands in<"})
    EXPECT_THAT(report::to_svg(diagram), Not(HasSubstr(absent)));
  diagram.devices[6].look = report::DiagramLook::aside;
  diagram.devices[7].look = report::DiagramLook::broken;
  diagram.links.push_back({0, 5, 0, report::DiagramLink::Kind::stand_in, "SYS"});
  for (const char* present : {">far<", ">not dealt<", ">not usable<", ">stands in<"})
    EXPECT_THAT(report::to_svg(diagram), HasSubstr(present));
}

TEST(Svg, a_column_shares_one_line_that_breaks_only_with_all_of_it) {
  auto diagram = sample_diagram();
  const auto broken_lines = [&] {
    return count_of(report::to_svg(diagram),
                    "stroke=\"#b3001b\" stroke-width=\"2\" stroke-dasharray=\"6 4\"");
  };
  diagram.devices[6].groups = diagram.devices[7].groups = {0};
  diagram.links = {{0, 6, 0, report::DiagramLink::Kind::broken, "PIX"},
                   {0, 7, 0, report::DiagramLink::Kind::solid, "PIX"}};
  EXPECT_EQ(count_of(report::to_svg(diagram), "<path"), 2U) << "the line and its edge";
  EXPECT_EQ(broken_lines(), 0U);
  diagram.links[1].kind = report::DiagramLink::Kind::broken;
  EXPECT_EQ(broken_lines(), 1U);
}

TEST(Svg, the_tooltip_of_a_device_keeps_its_lines) {
  auto diagram = sample_diagram();
  diagram.devices[0].tooltip = "one\ntwo";
  EXPECT_THAT(report::to_svg(diagram), HasSubstr("<title>one\ntwo</title>"));
}

TEST(Svg, nothing_is_a_picture_too) {
  EXPECT_THAT(report::to_svg({}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace railhead::test
