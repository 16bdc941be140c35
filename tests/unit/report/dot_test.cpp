// SPDX-License-Identifier: Apache-2.0
#include "report/diagram.h"

#include <gmock/gmock.h>

#include "unit/report/sample_diagram.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What is left when every quoted string is a pair of quotes: the grammar alone.
std::string without_strings(const std::string& dot) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    if (inside && dot[i] == '\\') {
      ++i;
    } else if (dot[i] == '"') {
      inside = !inside;
      out += '"';
    } else if (!inside) {
      out += dot[i];
    }
  }
  EXPECT_FALSE(inside);
  return out;
}

TEST(Dot, boxes_are_clusters_and_links_are_edges) {
  const auto dot = report::to_dot(sample_diagram());
  EXPECT_THAT(dot, testing::StartsWith("digraph railhead {\n"));
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_0 {"));
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_3 {"));
  EXPECT_THAT(dot, HasSubstr("d1 -> d4 [label=\"PIX\", color=\"#e69f00\", style=solid];"));
  EXPECT_THAT(dot, HasSubstr("ACTIVE\\n[0 1]\""));
}

TEST(Dot, hostile_text_does_not_leave_its_string) {
  const auto plain = report::to_dot(sample_diagram());
  auto diagram = sample_diagram();
  const std::string hostile = "\"]; evil [x=\"\\\\\" \\N \\";
  diagram.title = hostile;
  diagram.subtitles = {hostile};
  for (auto& device : diagram.devices) device.title = device.tooltip = device.footer = hostile;
  for (auto& box : diagram.boxes) box.titles = {hostile};
  for (auto& mark : diagram.marks) mark = hostile;
  EXPECT_EQ(without_strings(report::to_dot(diagram)), without_strings(plain));
  EXPECT_THAT(without_strings(report::to_dot(diagram)), Not(HasSubstr("evil")));
}

TEST(Dot, the_same_diagram_is_the_same_text) {
  EXPECT_EQ(report::to_dot(sample_diagram()), report::to_dot(sample_diagram()));
}

}  // namespace
}  // namespace railhead::test
