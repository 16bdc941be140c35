// SPDX-License-Identifier: Apache-2.0
#include "bench/options.h"

#include <gmock/gmock.h>

namespace railhead::bench {
namespace {

using testing::HasSubstr;

std::string error_of(const Options& options, std::size_t lanes = 1) {
  const auto work = make_work(options, lanes, 1);
  return work ? "no error" : work.error().message;
}

TEST(BenchOptions, gpu_is_both_routes_one_after_the_other) {
  Options options;
  options.memory = "gpu";
  const auto work = make_work(options, 1, 1);
  ASSERT_TRUE(work);
  ASSERT_EQ(work->plans.size(), 2U);
  EXPECT_EQ(work->plans[0].memory, Memory::gpu_dmabuf);
  EXPECT_EQ(work->plans[1].memory, Memory::gpu_peermem);
  options.memory = "all";
  EXPECT_EQ(make_work(options, 1, 1)->plans.size(), 3U);
}

TEST(BenchOptions, a_sweep_makes_buffers_for_its_largest_message) {
  Options options;
  options.sizes = "all";
  const auto work = make_work(options, 1, 1);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->steps.size(), 23U);
  EXPECT_EQ(work->plans[0].max_size_bytes, std::uint64_t{8} << 20);
}

TEST(BenchOptions, a_rate_cap_is_shared_by_the_lanes_and_never_lost) {
  Options options;
  options.rate_cap = "10G";
  EXPECT_EQ(make_work(options, 4, 1)->steps[0].rate_cap_bps, 2'500'000'000U);
  options.rate_cap = "3";
  EXPECT_EQ(make_work(options, 4, 1)->steps[0].rate_cap_bps, 1U);
}

TEST(BenchOptions, what_makes_no_sense_is_refused) {
  Options both;
  both.duration = "1s";
  both.iterations = 5;
  EXPECT_THAT(error_of(both), HasSubstr("--duration and --iterations"));
  Options memory;
  memory.memory = "disk";
  EXPECT_THAT(error_of(memory), HasSubstr("disk"));
  Options pairs;
  pairs.queue_pairs = kMaxQueuePairs + 1;
  EXPECT_NE(error_of(pairs), "no error");
  Options output;
  output.output = "xml";
  EXPECT_THAT(output_format(output).error().message, HasSubstr("--output \"xml\""));
}

TEST(BenchOptions, a_key_is_named_by_where_it_came_from) {
  const Options options;
  EXPECT_FALSE(given_key(options, {}).value());
  EXPECT_EQ(given_key(options, {{"RAILHEAD_BENCH_KEY", "0123456789abcdef"}}).value(),
            "0123456789abcdef");
  const auto weak = given_key(options, {{"RAILHEAD_BENCH_KEY", "short"}});
  ASSERT_FALSE(weak);
  EXPECT_THAT(weak.error().message, HasSubstr("RAILHEAD_BENCH_KEY"));
  EXPECT_THAT(weak.error().message, Not(HasSubstr("short\"")));
  Options file;
  file.key_file = "/no/such/key";
  EXPECT_THAT(given_key(file, {}).error().message, HasSubstr("/no/such/key"));
}

}  // namespace
}  // namespace railhead::bench
