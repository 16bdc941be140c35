// SPDX-License-Identifier: Apache-2.0
#include "bench/plan.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "bench/expected.h"
#include "bench/histogram.h"
#include "bench/pattern.h"

namespace railhead::bench {
namespace {

TEST(Plan, sizes_are_binary_and_all_is_what_perftest_sweeps) {
  EXPECT_EQ(parse_size("64KiB").value(), 65536U);
  EXPECT_EQ(parse_size("64Ki").value(), 65536U);
  EXPECT_EQ(parse_size("1M").value(), 1048576U);
  EXPECT_EQ(parse_sizes("2, 4K").value(), (std::vector<std::uint64_t>{2, 4096}));
  const auto all = parse_sizes("all").value();
  EXPECT_EQ(all.size(), 23U);
  EXPECT_EQ(all.back(), std::uint64_t{8} << 20);
  for (const char* wrong : {"", "0", "-1", "1e3", "65MiB", "KiB", "1..2", "nan", "4 KiB"}) {
    EXPECT_FALSE(parse_size(wrong)) << wrong;
  }
}

TEST(Plan, durations_and_rates) {
  EXPECT_EQ(parse_duration_ms("1.5s").value(), 1500U);
  EXPECT_EQ(parse_duration_ms("1h").value(), 3'600'000U);
  EXPECT_EQ(parse_duration_ms("2h").error().message, "\"2h\" is not between 1ms and 1h");
  EXPECT_FALSE(parse_duration_ms("3601"));
  EXPECT_FALSE(parse_duration_ms("0"));
  EXPECT_EQ(parse_duration_ms("soon").error().code, ErrorCode::usage);
  EXPECT_EQ(parse_rate_bps("2.5G").value(), 2'500'000'000U);
}

TEST(Plan, every_operation_meets_every_measure_and_size) {
  Step like;
  like.iterations = 0;
  const auto steps = make_steps({Operation::write, Operation::read},
                                {Measure::bandwidth, Measure::latency}, {}, like);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0].size_bytes, 65536U);
  EXPECT_EQ(steps[0].iterations, 5000U);
  EXPECT_EQ(steps[1].size_bytes, 2U);
  EXPECT_EQ(steps[1].iterations, 1000U);
  EXPECT_NE(steps[0].seed, steps[1].seed);
}

TEST(Plan, a_source_and_a_target_never_overlap) {
  Plan plan;
  plan.queue_pairs = 3;
  plan.max_size_bytes = 100;
  const auto layout = Layout::of(plan);
  EXPECT_EQ(layout.stride_bytes, 128U);
  EXPECT_EQ(layout.slots, 16U);
  EXPECT_EQ(layout.source(0, 15) + 128, layout.source(1, 0));
  EXPECT_EQ(layout.source(2, 15) + 128, layout.target(0, 0));
  EXPECT_EQ(layout.target(2, 15) + 128, layout.length_bytes());
}

TEST(Plan, a_ring_takes_256_kib_and_has_a_slot_for_the_largest_message) {
  Plan plan;
  plan.max_size_bytes = 65536;
  EXPECT_EQ(Layout::of(plan).slots, 4U);
  EXPECT_EQ(verifying_passes(Step(), plan), 4U);
  plan.max_size_bytes = kMaxSize;
  EXPECT_EQ(Layout::of(plan).slots, 1U);
  Step large;
  large.size_bytes = kMaxSize;
  EXPECT_EQ(verifying_passes(large, plan), 4U);  // 256 MiB
  large.rate_cap_bps = 1000;
  EXPECT_EQ(verifying_passes(large, plan), 1U);
}

TEST(Plan, a_verifying_pass_moves_each_slot_once_with_bytes_of_its_own) {
  Step latency;
  latency.measure = Measure::latency;
  latency.warm_up = 50;
  latency.duration_ms = 1000;
  const auto layout = Layout::of(Plan());
  const auto pass = verifying_pass(latency, layout, 0);
  EXPECT_TRUE(pass.ring);
  EXPECT_EQ(pass.measure, Measure::bandwidth);
  EXPECT_EQ(pass.iterations, layout.slots);
  EXPECT_EQ(pass.warm_up + pass.duration_ms, 0U);
  EXPECT_NE(pass.seed, latency.seed);
  EXPECT_NE(pass.seed, verifying_pass(latency, layout, 1).seed);
}

TEST(Plan, more_memory_than_the_limit_is_refused) {
  Plan plan;
  plan.queue_pairs = kMaxQueuePairs;
  plan.max_size_bytes = kMaxSize;
  EXPECT_FALSE(check(plan));
}

TEST(Histogram, has_the_nearest_rank_exactly_below_128_and_nearly_above) {
  Histogram small;
  for (std::uint64_t i = 1; i <= 100; ++i) small.add(i);
  EXPECT_EQ(small.percentile_ns(0.5), 50U);
  EXPECT_EQ(small.percentile_ns(0.99), 99U);
  EXPECT_EQ(small.percentile_ns(1), 100U);
  Histogram large;
  for (std::uint64_t i = 1; i <= 100000; ++i) large.add(i * 1000);
  for (const double share : {0.01, 0.5, 0.99, 0.999}) {
    const auto exact = share * 1e8;
    EXPECT_NEAR(static_cast<double>(*large.percentile_ns(share)), exact, exact / 64) << share;
  }
  EXPECT_EQ(large.min_ns(), 1000U);
  EXPECT_EQ(large.max_ns(), 100000000U);
}

TEST(Histogram, without_values_says_nothing_and_merges) {
  Histogram one;
  EXPECT_FALSE(one.percentile_ns(0.5));
  Histogram other;
  other.add(~std::uint64_t{0});
  other.add(7);
  one.merge(other);
  EXPECT_EQ(one.count(), 2U);
  EXPECT_EQ(one.min_ns(), 7U);
  EXPECT_EQ(one.max_ns(), ~std::uint64_t{0});
  EXPECT_GE(one.percentile_ns(0.99), std::uint64_t{127} << 57);
}

TEST(Histogram, of_equal_values_is_that_value_at_every_percentile) {
  for (const std::uint64_t count : {1, 5000}) {
    Histogram same;
    for (std::uint64_t i = 0; i < count; ++i) same.add(123'457);
    for (const double share : {0.0, 0.5, 0.999, 1.0})
      EXPECT_EQ(same.percentile_ns(share), 123'457U);
    EXPECT_EQ(same.mean_ns(), 123'457);
  }
}

TEST(Histogram, a_rare_outlier_is_the_maximum_and_no_percentile_below_it) {
  Histogram latencies;
  for (int i = 0; i < 999; ++i) latencies.add(100);
  latencies.add(10'000'000'000);
  EXPECT_EQ(latencies.percentile_ns(0.999), 100U);
  EXPECT_EQ(latencies.max_ns(), 10'000'000'000U);
}

TEST(Pattern, differs_for_each_slot_queue_pair_lane_and_step) {
  std::set<std::uint64_t> seeds;
  for (const std::uint64_t step : {1, 2}) {
    for (const std::size_t lane : {0, 1, 15}) {
      for (const unsigned pair : {0, 1, 127}) {
        for (const unsigned slot : {0, 15}) seeds.insert(pattern_seed(step, lane, pair, slot));
      }
    }
  }
  EXPECT_EQ(seeds.size(), 36U);
}

TEST(Pattern, notices_zeroes_another_seed_a_shift_and_one_bit) {
  std::vector<std::byte> bytes(1001);
  EXPECT_EQ(find_mismatch(bytes, 1), 0U);
  fill_pattern(bytes, 1);
  EXPECT_FALSE(find_mismatch(bytes, 1));
  EXPECT_TRUE(find_mismatch(bytes, 2));
  EXPECT_TRUE(find_mismatch(std::span(bytes).subspan(8), 1));
  bytes[1000] ^= std::byte{4};
  EXPECT_EQ(find_mismatch(bytes, 1), 1000U);
}

TEST(Expected, the_slower_of_link_and_pcie_decides) {
  Place place;
  place.nic = "mlx5_0";
  place.gid = "0000:0000:0000:0000:0000:ffff:0a00:0001";
  EXPECT_FALSE(expected_rate(place, 4096, 65536));
  place.pci = "0000:18:00.0";
  place.rate_gbps = 400;
  place.pcie = PcieLink{32, 16};
  const auto link = expected_rate(place, 4096, 1 << 20);
  EXPECT_EQ(link->limited_by, "link of mlx5_0");
  EXPECT_NEAR(link->gbps, 392.1, 0.2);  // 4096 of 4178 bytes
  place.pcie = PcieLink{16, 16};
  const auto pcie = expected_rate(place, 4096, 1 << 20);
  EXPECT_EQ(pcie->limited_by, "PCIe of mlx5_0");
  EXPECT_NEAR(pcie->gbps, 230.4, 0.1);  // 252 of payload and headers
}

TEST(Expected, a_global_header_on_infiniband_takes_its_part_of_each_packet) {
  EXPECT_NEAR(link_efficiency(true, false, 4096, 1 << 20), 4096.0 / (4096 + 26), 1e-4);
  EXPECT_NEAR(link_efficiency(true, true, 4096, 1 << 20), 4096.0 / (4096 + 66), 1e-4);
}

TEST(GlobalHeader, is_needed_where_either_end_is_reached_by_its_gid_only) {
  LaneAddress alone;
  alone.gid = GidBytes{0xfe, 0x80};
  auto shared = alone;  // an SR-IOV function whose LID is not its own
  shared.needs_gid = true;
  EXPECT_FALSE(needs_global_header(alone, alone).value());
  EXPECT_TRUE(needs_global_header(alone, shared).value());
  EXPECT_TRUE(needs_global_header(shared, alone).value());
  EXPECT_TRUE(needs_global_header(shared, shared).value());
}

TEST(GlobalHeader, without_a_gid_at_one_end_cannot_be) {
  LaneAddress shared;
  shared.gid = GidBytes{0xfe, 0x80};
  shared.needs_gid = true;
  EXPECT_FALSE(needs_global_header(LaneAddress(), LaneAddress()).value());
  EXPECT_EQ(needs_global_header(LaneAddress(), shared).error().message,
            "one side is reached by a GID only, and this one has none");
  EXPECT_EQ(needs_global_header(shared, LaneAddress()).error().message,
            "one side is reached by a GID only, and the other has none");
}

}  // namespace
}  // namespace railhead::bench
