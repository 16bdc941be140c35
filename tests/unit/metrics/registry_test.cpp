// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace railhead {
namespace {

using ::testing::EndsWith;

const std::vector<MetricSpec> kSpecs = {
    {"railhead_things_total", MetricKind::counter, "Things.", {{"kind"}}},
    {"railhead_level", MetricKind::gauge, "Level."},
};

TEST(MetricRegistry, exposes_help_type_and_samples_in_the_text_format) {
  MetricRegistry metrics(kSpecs);
  metrics.add("railhead_things_total", {{"kind", "a"}});
  metrics.add("railhead_things_total", {{"kind", "a"}}, 2);
  metrics.set("railhead_level", 0.5);
  EXPECT_EQ(metrics.expose(),
            "# HELP railhead_things_total Things.\n"
            "# TYPE railhead_things_total counter\n"
            "railhead_things_total{kind=\"a\"} 3\n"
            "# HELP railhead_level Level.\n"
            "# TYPE railhead_level gauge\n"
            "railhead_level 0.5\n");
}

const MetricSpec kJobs = {"railhead_jobs_total",
                          MetricKind::counter,
                          "Jobs.",
                          {{"pool"}, {"outcome", {"done", "failed"}}}};

TEST(MetricRegistry, a_counter_with_known_labels_is_there_before_it_counts) {
  auto known = kJobs;
  known.labels.erase(known.labels.begin());
  EXPECT_THAT(MetricRegistry({known}).expose(),
              EndsWith("railhead_jobs_total{outcome=\"done\"} 0\n"
                       "railhead_jobs_total{outcome=\"failed\"} 0\n"));
  known.combinations = {{{"outcome", "done"}}};
  EXPECT_THAT(MetricRegistry({known}).expose(),
              EndsWith("counter\nrailhead_jobs_total{outcome=\"done\"} 0\n"));
}

TEST(MetricRegistry, a_thing_that_comes_begins_with_0_and_one_that_comes_again_goes_on) {
  MetricRegistry metrics({kJobs});
  EXPECT_THAT(metrics.expose(), EndsWith("# TYPE railhead_jobs_total counter\n"));
  metrics.begin("railhead_jobs_total", "a");
  metrics.add("railhead_jobs_total", {{"pool", "a"}, {"outcome", "done"}});
  metrics.begin("railhead_jobs_total", "a");
  EXPECT_THAT(metrics.expose(), EndsWith("railhead_jobs_total{pool=\"a\",outcome=\"done\"} 1\n"
                                         "railhead_jobs_total{pool=\"a\",outcome=\"failed\"} 0\n"));
}

TEST(MetricRegistry, escapes_label_values) {
  MetricRegistry metrics(kSpecs);
  metrics.set("railhead_level", 1, {{"text", "a\"b\\c\nd"}});
  EXPECT_NE(metrics.expose().find(R"(railhead_level{text="a\"b\\c\nd"} 1)"), std::string::npos);
}

TEST(MetricRegistry, escapes_help_texts) {
  MetricRegistry metrics({{"railhead_level", MetricKind::gauge, "A \\ and \"\n\"."}});
  EXPECT_EQ(metrics.expose(),
            "# HELP railhead_level A \\\\ and \"\\n\".\n# TYPE railhead_level gauge\n");
}

TEST(MetricRegistry, threads_count_together) {
  MetricRegistry metrics(kSpecs);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&metrics, t] {
      for (int i = 0; i < 500; ++i) {
        metrics.add("railhead_things_total");
        metrics.set("railhead_level", i, {{"thread", std::to_string(t)}});
        if (i % 100 == 0) static_cast<void>(metrics.expose());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(metrics.value("railhead_things_total"), 2000);
}

TEST(MetricRegistry, ignores_a_name_that_was_not_declared) {
  MetricRegistry metrics(kSpecs);
  metrics.add("railhead_other_total");
  EXPECT_EQ(metrics.expose().find("other"), std::string::npos);
}

TEST(MetricRegistry, large_counters_keep_every_digit) {
  MetricRegistry metrics(kSpecs);
  metrics.add("railhead_things_total", {}, 9007199254740991.0);
  EXPECT_NE(metrics.expose().find("9007199254740991"), std::string::npos);
}

TEST(MetricRegistry, clear_takes_away_what_no_longer_exists) {
  MetricRegistry metrics(kSpecs);
  metrics.set("railhead_level", 1, {{"nic", "mlx5_0"}});
  metrics.replace("railhead_level", {});
  EXPECT_EQ(metrics.expose().find("mlx5_0"), std::string::npos);
}

TEST(MetricRegistry, what_goes_takes_all_its_samples_and_no_others) {
  MetricRegistry metrics(kSpecs);
  metrics.set("railhead_level", 1, {{"nic", "mlx5_0"}});
  metrics.set("railhead_level", 1, {{"nic", "mlx5_1"}});
  metrics.set("railhead_level", 1, {{"nic", "mlx5_0"}, {"port", "2"}});
  metrics.set("railhead_level", 1, {{"nic", "mlx5_01"}});
  metrics.remove("railhead_level", {{"nic", "mlx5_0"}});
  EXPECT_THAT(metrics.expose(), EndsWith("gauge\n"
                                         "railhead_level{nic=\"mlx5_01\"} 1\n"
                                         "railhead_level{nic=\"mlx5_1\"} 1\n"));
}

}  // namespace
}  // namespace railhead
