// SPDX-License-Identifier: Apache-2.0
#include "bench/options.h"

#include <gmock/gmock.h>

#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::bench {
namespace {

using testing::HasSubstr;

std::string error_of(const Options& options, std::size_t lanes = 1) {
  const auto work = make_work(options, lanes, 1);
  return work ? "no error" : work.error().message;
}

TEST(BenchOptions, a_server_lets_clients_use_its_nics_and_no_others) {
  Options options;
  options.nics = {"mlx5_0", "mlx5_1:1"};
  const auto host = snapshot::SnapshotHost::parse(test::machine_text("dgx-h100"));
  ASSERT_TRUE(host);
  test::ManualClock clock;
  VerbsEndpoint server(**host, clock, server_endpoint_options(options));
  const auto outcome = server.make_lanes(Plan(), {"mlx5_3"});
  EXPECT_EQ(outcome.state, State::no_device);
  EXPECT_EQ(outcome.why, "mlx5_3 may not be used here, only mlx5_0, mlx5_1:1");
  EXPECT_TRUE(endpoint_options(options).nics.empty());
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

TEST(BenchOptions, a_rate_cap_is_that_of_all_lanes_together) {
  Options options;
  options.rate_cap = "10G";
  const auto step = make_work(options, 4, 1)->steps[0];
  EXPECT_EQ(step.rate_cap_bps, 10'000'000'000U);
  EXPECT_EQ(lane_cap_bps(step, 4), 2.5e9);
}

TEST(BenchOptions, a_rate_cap_that_lets_nothing_pass_is_refused) {
  Options options;
  for (const char* nothing : {"0", "0G", "0.1"}) {
    options.rate_cap = nothing;
    EXPECT_THAT(error_of(options), HasSubstr("--rate-cap: rate \"" + std::string(nothing)));
    EXPECT_THAT(error_of(options), HasSubstr("lets nothing pass"));
  }
  options.rate_cap = "fast";
  EXPECT_THAT(error_of(options), HasSubstr("--rate-cap: "));
}

TEST(BenchOptions, a_rate_cap_under_which_a_message_takes_too_long_is_refused) {
  Options options;
  options.rate_cap = "1M";
  options.sizes = "8MiB";
  options.iterations = 1;
  options.warm_up = 0;
  EXPECT_EQ(error_of(options),
            "rate cap 1000000: 8388608 bytes between two NICs take 68 s, and the limit is 10 s");
  options.sizes = "1MiB";
  EXPECT_EQ(error_of(options), "no error");  // 8.4 s
  EXPECT_THAT(error_of(options, 2), HasSubstr("take 17 s"));
  options.measures = "latency";  // to and fro
  EXPECT_THAT(error_of(options), HasSubstr("2097152 bytes between two NICs take 17 s"));
  options.operations = "read";
  EXPECT_EQ(error_of(options), "no error");
}

TEST(BenchOptions, a_rate_cap_under_which_a_step_takes_too_long_is_refused) {
  Options options;
  options.rate_cap = "1M";
  options.sizes = "64KiB";  // 0.52 s
  options.warm_up = 0;
  options.iterations = 7000;
  EXPECT_THAT(error_of(options), HasSubstr("all messages and the warm-up take 3671 s, and the "
                                           "limit is 3600 s"));
  options.iterations = 5000;
  EXPECT_EQ(error_of(options), "no error");
  options.queue_pairs = 2;
  EXPECT_THAT(error_of(options), HasSubstr("take 5243 s"));
  options.iterations = 0;
  options.duration = "1s";
  EXPECT_EQ(error_of(options),
            "rate cap 1000000: a message of each queue pair takes 2 s, and the limit is 1 s");
  options.duration = "2s";
  EXPECT_EQ(error_of(options), "no error");
  options.warm_up = 5000;
  EXPECT_THAT(error_of(options), HasSubstr("the warm-up take"));
}

TEST(BenchOptions, an_error_names_its_option_and_what_was_given) {
  const auto error = [](std::string Options::*option, const char* value) {
    Options options;
    options.*option = value;
    return error_of(options);
  };
  EXPECT_EQ(error(&Options::operations, "erase"),
            "--op: operation \"erase\" is none of write, read, send");
  EXPECT_THAT(error(&Options::measures, "width"), testing::StartsWith("--measure: "));
  EXPECT_THAT(error(&Options::memory, "disk"), testing::StartsWith("--memory: "));
  EXPECT_EQ(error(&Options::duration, "2h"), "--duration: \"2h\" is not between 1ms and 1h");
  EXPECT_EQ(error(&Options::sizes, "8GiB"), "--size: \"8GiB\" is not between 1 byte and 64 MiB");
  EXPECT_EQ(error(&Options::sizes, "64,1e3"),
            "--size: \"1e3\" is no size such as 2, 64KiB or 1MiB");
  EXPECT_EQ(error(&Options::rate_cap, "fast"), "--rate-cap: \"fast\" does not begin with a number");
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
