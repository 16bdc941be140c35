// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <concepts>
#include <thread>

namespace railhead::metrics {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

using Kind = Label<"kind">;
using Nic = Label<"nic">;
using Outcome = Label<"outcome", "done", "failed">;
using Pool = Label<"pool">;
using Port = Label<"port">;

struct Things : MetricRegistry {
  Counter<Kind> things{*this, "railhead_things_total", "Things."};
  Gauge<> level{*this, "railhead_level", "Level."};
};

struct Jobs : MetricRegistry {
  Counter<Pool, Outcome> jobs{*this, "railhead_jobs_total", "Jobs."};
};

constexpr double kBounds[] = {0.001, 0.5, 2};

struct Times : MetricRegistry {
  Histogram took{*this, "railhead_took_seconds", "Took.", kBounds};
};

struct Ports : MetricRegistry {
  Gauge<Nic, Port> up{*this, "railhead_up", "Up."};
};

template <typename... L>
concept HasSample = requires(const Ports& metrics, L... labels) {
  metrics.up.value(labels...);
};

static_assert(HasSample<Nic, Port>);
static_assert(!HasSample<Nic>, "a label too few");
static_assert(!HasSample<Nic, Port, Port>, "a label too many");
static_assert(!HasSample<Port, Nic>, "another order");
static_assert(!std::convertible_to<std::string_view, Nic>, "text that might be of another label");
static_assert(Outcome::is_known("failed") && !Outcome::is_known("faild"));

TEST(MetricRegistry, exposes_help_type_and_samples_in_the_text_format) {
  Things metrics;
  metrics.things.add("a");
  metrics.things.add("a");
  metrics.level.set(0.5);
  EXPECT_EQ(metrics.expose(),
            "# HELP railhead_things_total Things.\n"
            "# TYPE railhead_things_total counter\n"
            "railhead_things_total{kind=\"a\"} 2\n"
            "# HELP railhead_level Level.\n"
            "# TYPE railhead_level gauge\n"
            "railhead_level 0.5\n");
}

TEST(MetricRegistry, a_counter_with_known_labels_is_there_before_it_counts) {
  struct Known : MetricRegistry {
    Counter<Outcome> jobs{*this, "railhead_jobs_total", "Jobs."};
  };

  EXPECT_THAT(Known().expose(), EndsWith("railhead_jobs_total{outcome=\"done\"} 0\n"
                                         "railhead_jobs_total{outcome=\"failed\"} 0\n"));
}

TEST(MetricRegistry, only_the_combinations_that_can_be_are_there) {
  struct Known : MetricRegistry {
    Counter<Outcome> jobs{*this, "railhead_jobs_total", "Jobs.", {{Outcome("done")}}};
  };

  EXPECT_THAT(Known().expose(), EndsWith("counter\nrailhead_jobs_total{outcome=\"done\"} 0\n"));
}

TEST(MetricRegistry, a_thing_begins_with_0_and_goes_on_when_it_comes_again) {
  Jobs metrics;
  EXPECT_THAT(metrics.expose(), EndsWith("# TYPE railhead_jobs_total counter\n"));
  metrics.jobs.begin(Pool("a"));
  metrics.jobs.add("a", "done");
  metrics.jobs.begin(Pool("a"));
  EXPECT_THAT(metrics.expose(), EndsWith("railhead_jobs_total{pool=\"a\",outcome=\"done\"} 1\n"
                                         "railhead_jobs_total{pool=\"a\",outcome=\"failed\"} 0\n"));
}

TEST(MetricRegistry, a_histogram_has_all_its_buckets_from_the_start) {
  EXPECT_EQ(Times().expose(),
            "# HELP railhead_took_seconds Took.\n"
            "# TYPE railhead_took_seconds histogram\n"
            "railhead_took_seconds_bucket{le=\"0.001\"} 0\n"
            "railhead_took_seconds_bucket{le=\"0.5\"} 0\n"
            "railhead_took_seconds_bucket{le=\"2\"} 0\n"
            "railhead_took_seconds_bucket{le=\"+Inf\"} 0\n"
            "railhead_took_seconds_sum 0\n"
            "railhead_took_seconds_count 0\n");
}

TEST(MetricRegistry, a_bucket_counts_what_is_at_most_its_bound) {
  Times metrics;
  for (const double value : {0.0005, 0.5, 0.75, 7.0}) metrics.took.observe(value);
  EXPECT_THAT(metrics.expose(), EndsWith("_bucket{le=\"0.001\"} 1\n"
                                         "railhead_took_seconds_bucket{le=\"0.5\"} 2\n"
                                         "railhead_took_seconds_bucket{le=\"2\"} 3\n"
                                         "railhead_took_seconds_bucket{le=\"+Inf\"} 4\n"
                                         "railhead_took_seconds_sum 8.2505\n"
                                         "railhead_took_seconds_count 4\n"));
}

TEST(MetricRegistry, escapes_label_values) {
  Things metrics;
  metrics.things.add("a\"b\\c\nd");
  EXPECT_THAT(metrics.expose(), HasSubstr(R"(railhead_things_total{kind="a\"b\\c\nd"} 1)"));
}

TEST(MetricRegistry, escapes_help_texts) {
  struct One : MetricRegistry {
    Gauge<> level{*this, "railhead_level", "A \\ and \"\n\"."};
  };

  EXPECT_EQ(One().expose(),
            "# HELP railhead_level A \\\\ and \"\\n\".\n# TYPE railhead_level gauge\n");
}

TEST(MetricRegistry, a_label_without_a_value_is_left_out) {
  Ports metrics;
  metrics.up.set(1, "mlx5_0", {});
  metrics.up.set(1, {}, "2");
  EXPECT_THAT(metrics.expose(),
              EndsWith("gauge\nrailhead_up{nic=\"mlx5_0\"} 1\nrailhead_up{port=\"2\"} 1\n"));
}

TEST(MetricRegistry, threads_count_together) {
  Things metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&metrics, t] {
      for (int i = 0; i < 500; ++i) {
        metrics.things.add("a");
        metrics.things.set(i, Kind(std::to_string(t)));
        if (i % 100 == 0) static_cast<void>(metrics.expose());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(metrics.things.value("a"), 2000);
}

TEST(MetricRegistry, large_counters_keep_every_digit) {
  Things metrics;
  metrics.things.set(9007199254740991.0, "a");
  EXPECT_THAT(metrics.expose(), HasSubstr("9007199254740991"));
}

TEST(MetricRegistry, what_exists_now_takes_the_place_of_what_was) {
  Ports metrics;
  metrics.up.set(1, "mlx5_0", "1");
  decltype(Ports::up)::Now now;
  now.add(1, "mlx5_1", "1");
  now.add(1, "mlx5_1", "1");
  metrics.up.replace(std::move(now));
  EXPECT_THAT(metrics.expose(), EndsWith("gauge\nrailhead_up{nic=\"mlx5_1\",port=\"1\"} 2\n"));
}

TEST(MetricRegistry, what_goes_takes_all_its_samples_and_no_others) {
  Ports metrics;
  metrics.up.set(1, "mlx5_0", {});
  metrics.up.set(1, "mlx5_1", {});
  metrics.up.set(1, "mlx5_0", "2");
  metrics.up.set(1, "mlx5_01", {});
  metrics.up.remove(Nic("mlx5_0"));
  EXPECT_THAT(metrics.expose(), EndsWith("gauge\n"
                                         "railhead_up{nic=\"mlx5_01\"} 1\n"
                                         "railhead_up{nic=\"mlx5_1\"} 1\n"));
}

}  // namespace
}  // namespace railhead::metrics
