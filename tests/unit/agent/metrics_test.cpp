// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "inject/codes.h"
#include "unit/source_dir.h"

namespace railhead::agent {
namespace {

TEST(Metrics, names_follow_the_rules_of_the_exposition_format) {
  std::set<std::string_view> seen;
  const Metrics metrics;
  for (const auto* metric : metrics.all()) {
    const auto& spec = metric->spec;
    EXPECT_TRUE(seen.insert(spec.name).second) << spec.name << " twice";
    EXPECT_TRUE(spec.name.starts_with("railhead_")) << spec.name;
    EXPECT_EQ(spec.kind == metrics::MetricKind::counter, spec.name.ends_with("_total"))
        << spec.name;
    EXPECT_TRUE(spec.help.ends_with('.')) << spec.name;
  }
}

/// "pool, outcome (granted, refused)". A long list of values is a page of its own.
std::string labels_text(const metrics::MetricSpec& spec) {
  constexpr std::size_t kMostValues = 8;
  std::string text;
  for (const auto& label : spec.labels) {
    if (!text.empty()) text += ", ";
    text += label.name;
    if (label.values.empty() || label.values.size() > kMostValues) continue;
    std::string values;
    for (const auto value : label.values) {
      values += (values.empty() ? "" : ", ") + std::string(value);
    }
    text += " (" + values + ")";
  }
  return text;
}

TEST(Metrics, the_document_has_each_metric_with_its_labels_and_values) {
  std::ifstream file(test::source_dir() + "/docs/metrics.md");
  std::stringstream text;
  text << file.rdbuf();
  const Metrics metrics;
  for (const auto* metric : metrics.all()) {
    const auto& spec = metric->spec;
    const std::string kind(to_string(spec.kind));
    const std::string row = "| `" + std::string(spec.name) + "` | " + kind + " | " +
                            labels_text(spec) + " | " + std::string(spec.help) + " |\n";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
}

TEST(Metrics, what_alerts_when_it_increases_is_there_as_0_from_the_start) {
  Metrics metrics;
  metrics.allocations.begin(label::Pool("rdma.io/hca"));
  const std::string page = metrics.expose();
  for (const char* sample :
       {"railhead_nri_warnings_total{code=\"stand-in\"} 0\n",
        "railhead_nri_decisions_total{outcome=\"refused\",reason=\"no-usable-nic\"} 0\n",
        "railhead_nri_stale_decisions_total 0\n", "railhead_nri_deadlines_missed_total 0\n",
        "railhead_silent_fallbacks_total 0\n", "railhead_log_lines_dropped_total 0\n",
        "railhead_pods_reads_total{outcome=\"failed\"} 0\n",
        "railhead_config_reloads_total{outcome=\"refused\"} 0\n",
        "railhead_allocations_total{pool=\"rdma.io/hca\",outcome=\"start-refused\"} 0\n"}) {
    EXPECT_NE(page.find(sample), std::string::npos) << sample;
  }
}

TEST(Metrics, every_reason_belongs_to_an_outcome) {
  const Metrics metrics;
  const std::string page = metrics.expose();
  for (const auto& reason : inject::kReasonCodes) {
    EXPECT_NE(page.find(",reason=\"" + std::string(reason.code) + "\"} 0\n"), std::string::npos)
        << reason.code;
  }
}

}  // namespace
}  // namespace railhead::agent
