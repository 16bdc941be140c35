// SPDX-License-Identifier: Apache-2.0
#include "agent/metric_list.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "unit/source_dir.h"

namespace railhead {
namespace {

TEST(MetricList, names_follow_the_rules_of_the_exposition_format) {
  std::set<std::string_view> seen;
  for (const auto& spec : metric_list()) {
    EXPECT_TRUE(seen.insert(spec.name).second) << spec.name << " twice";
    EXPECT_TRUE(spec.name.starts_with("railhead_")) << spec.name;
    EXPECT_EQ(spec.kind == MetricKind::counter, spec.name.ends_with("_total")) << spec.name;
    EXPECT_TRUE(spec.help.ends_with('.')) << spec.name;
  }
}

TEST(MetricList, the_document_has_a_row_for_every_metric) {
  std::ifstream file(test::source_dir() + "/docs/metrics.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const auto& spec : metric_list()) {
    const std::string kind = spec.kind == MetricKind::counter ? "counter" : "gauge";
    EXPECT_NE(text.str().find("| `" + std::string(spec.name) + "` | " + kind + " |"),
              std::string::npos)
        << spec.name;
    EXPECT_NE(text.str().find(spec.help), std::string::npos) << spec.name;
  }
}

}  // namespace
}  // namespace railhead
