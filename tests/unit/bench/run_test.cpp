// SPDX-License-Identifier: Apache-2.0
#include "bench/run.h"

#include <gtest/gtest.h>

#include "bench/pace.h"
#include "unit/bench/fake_transport.h"
#include "unit/manual_clock.h"

namespace railhead::bench {
namespace {

struct Bench {
  test::ManualClock clock;
  Step step;
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> moved = 0;

  Result<LaneResult> start(FakeTransport& transport, std::size_t lanes = 1) {
    return initiate({transport, step, clock, stop, moved, lanes});
  }

  Result<LaneResult> answer(FakeTransport& transport) {
    return respond({transport, step, clock, stop, moved});
  }
};

TEST(Stream, counts_all_messages_of_all_queue_pairs_but_no_warm_up) {
  Bench bench;
  bench.step = {.iterations = 1000, .warm_up = 50};
  FakeTransport transport(bench.clock, 3);
  const auto result = bench.start(transport);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->messages, 3000U);
  EXPECT_EQ(transport.posted, 3150U);
  EXPECT_EQ(result->bytes, 3000U * 65536);
  EXPECT_NEAR(result->seconds(), 0.003, 1e-9);
  EXPECT_NEAR(result->gbps(), 65536 * 8e-3, 1e-6);
}

TEST(Stream, of_a_ring_each_message_has_a_slot_of_its_own) {
  Bench bench;
  bench.step = {.iterations = 6, .depth = 4};
  FakeTransport transport(bench.clock);
  ASSERT_TRUE(bench.start(transport));
  EXPECT_EQ(transport.slots, std::vector<unsigned>(6, 0));
  transport.slots.clear();
  bench.step.ring = true;
  ASSERT_TRUE(bench.start(transport));
  EXPECT_EQ(transport.slots, (std::vector<unsigned>{0, 1, 2, 3, 4, 5}));
}

TEST(Stream, never_has_more_in_flight_than_the_depth) {
  Bench bench;
  bench.step.depth = 7;
  FakeTransport transport(bench.clock);
  ASSERT_TRUE(bench.start(transport));
  EXPECT_LE(transport.most_in_flight, 7U);
  EXPECT_GE(transport.most_in_flight, 6U);
}

TEST(Stream, large_messages_are_fewer_at_a_time) {
  Step step;
  step.size_bytes = std::uint64_t{8} << 20;
  EXPECT_EQ(effective_depth(step), 2U);
  step.size_bytes = std::uint64_t{64} << 20;
  EXPECT_EQ(effective_depth(step), 2U);
  step.size_bytes = 2;
  EXPECT_EQ(effective_depth(step), 128U);
}

TEST(Stream, ends_after_its_time) {
  Bench bench;
  bench.step = {.iterations = 0, .duration_ms = 300};
  FakeTransport transport(bench.clock);
  const auto result = bench.start(transport);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->seconds(), 0.3, 0.001);
  EXPECT_GE(result->slice_gbps.size(), 2U);
}

TEST(Stream, a_completion_with_an_error_ends_it) {
  Bench bench;
  FakeTransport transport(bench.clock);
  transport.fails = Error{ErrorCode::unavailable, "rxe0: queue pair 17: retry exceeded"};
  EXPECT_EQ(bench.start(transport).error().message, "rxe0: queue pair 17: retry exceeded");
}

TEST(Stream, a_nic_that_never_completes_is_a_timeout) {
  Bench bench;
  FakeTransport transport(bench.clock);
  transport.dead = true;
  EXPECT_EQ(bench.start(transport).error().code, ErrorCode::timeout);
}

TEST(Stream, stops_when_it_is_told_to) {
  Bench bench;
  FakeTransport transport(bench.clock);
  transport.dead = true;
  bench.stop = true;
  EXPECT_EQ(bench.start(transport).error().message, "stopped");
}

TEST(Stream, a_rate_cap_holds_from_the_first_message_on) {
  for (const std::size_t lanes : {1U, 2U}) {
    Bench bench;
    bench.step.iterations = 100;
    bench.step.rate_cap_bps = 100 * bench.step.size_bytes * 8;  // a hundred messages a second
    FakeTransport transport(bench.clock);
    const auto result = bench.start(transport, lanes);
    ASSERT_TRUE(result);
    EXPECT_GE(result->seconds(), 0.999 * static_cast<double>(lanes));
    EXPECT_NEAR(result->seconds(), static_cast<double>(lanes), 0.01);
  }
}

TEST(Stream, under_a_rate_cap_no_queue_pair_goes_without) {
  Bench bench;
  bench.step.iterations = 0;
  bench.step.duration_ms = 1000;
  bench.step.rate_cap_bps = 90 * bench.step.size_bytes * 8;
  FakeTransport transport(bench.clock, 3);
  transport.idle_time = std::chrono::microseconds(100);
  ASSERT_TRUE(bench.start(transport));
  for (const auto posted : transport.posted_to) EXPECT_NEAR(posted, 30, 1);
}

TEST(Stream, the_pause_of_a_rate_cap_is_no_stall) {
  Bench bench;
  bench.step.iterations = 3;
  bench.step.rate_cap_bps = bench.step.size_bytes * 8 / 10;  // a message in ten seconds
  FakeTransport transport(bench.clock);
  transport.idle_time = std::chrono::milliseconds(10);
  const auto result = bench.start(transport);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NEAR(result->seconds(), 30, 0.2);
  transport.dead = true;
  EXPECT_EQ(bench.start(transport).error().message, "nothing moved for 20 s");
}

TEST(Receiver, counts_what_arrives_and_ends_by_itself) {
  Bench bench;
  bench.step = {.operation = Operation::send, .iterations = 90, .warm_up = 10};
  FakeTransport transport(bench.clock);
  transport.to_receive = 100;
  EXPECT_EQ(bench.answer(transport)->messages, 100U);
}

TEST(Receiver, a_message_of_another_size_is_named) {
  Bench bench;
  bench.step.operation = Operation::send;
  FakeTransport transport(bench.clock);
  transport.to_receive = 1;
  transport.receive_size = 17;
  EXPECT_EQ(bench.answer(transport).error().message, "received 17 bytes where 65536 were sent");
}

TEST(Receiver, by_time_ends_when_stopped_with_what_came) {
  Bench bench;
  bench.step = {.operation = Operation::send, .duration_ms = 1000};
  bench.stop = true;
  FakeTransport transport(bench.clock);
  transport.to_receive = 20;
  EXPECT_EQ(bench.answer(transport)->messages, 20U);
}

TEST(Latency, by_write_is_half_of_a_round) {
  Bench bench;
  bench.step = {.measure = Measure::latency, .size_bytes = 2, .iterations = 600};
  FakeTransport transport(bench.clock);
  const auto result = bench.start(transport);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->latency.count(), 600U);
  EXPECT_NEAR(static_cast<double>(result->latency.percentile_ns(0.5).value_or(0)), 1000, 10);
}

class CountingClock : public test::ManualClock {
 public:
  std::chrono::steady_clock::time_point now() override {
    ++looks;
    return test::ManualClock::now();
  }

  unsigned looks = 0;
};

TEST(Latency, reads_the_clock_once_a_round_because_that_is_expensive) {
  CountingClock clock;
  Bench bench;
  bench.step = {.measure = Measure::latency, .size_bytes = 2, .iterations = 600};
  FakeTransport transport(clock);
  ASSERT_TRUE(initiate({transport, bench.step, clock, bench.stop, bench.moved}));
  EXPECT_LE(clock.looks, 610U);
}

/// The other side is done at a look at the clock: in the midst of a look for what has come.
class EndingClock : public test::ManualClock {
 public:
  explicit EndingClock(std::atomic<bool>& stop)
      : stop_(stop) {}

  std::chrono::steady_clock::time_point now() override {
    if (++looks_ > 1 + kStart) stop_ = true;
    return test::ManualClock::now();
  }

 private:
  static constexpr unsigned kStart = 2;  // the watchdog's and the result's
  std::atomic<bool>& stop_;
  unsigned looks_ = 0;
};

TEST(Latency, the_side_that_answers_may_be_stopped_at_any_moment) {
  for (const auto operation : {Operation::send, Operation::write}) {
    Bench bench;
    EndingClock clock(bench.stop);
    bench.step.measure = Measure::latency;
    bench.step.operation = operation;
    bench.step.size_bytes = 2;
    bench.step.duration_ms = 1000;
    FakeTransport transport(clock);
    const auto result = respond({transport, bench.step, clock, bench.stop, bench.moved});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->messages, 0U);
  }
}

TEST(Latency, a_stopped_side_still_waits_for_its_last_acknowledgement) {
  Bench bench;
  bench.stop = true;
  bench.step.measure = Measure::latency;
  bench.step.operation = Operation::send;
  bench.step.iterations = 1;
  FakeTransport transport(bench.clock);
  transport.to_receive = 1;
  transport.late = 300;
  const auto result = bench.answer(transport);
  ASSERT_TRUE(result);
  EXPECT_TRUE(transport.idle());
  EXPECT_EQ(result->messages, 1U);
}

TEST(Latency, of_a_read_is_whole) {
  Bench bench;
  bench.step = {.operation = Operation::read, .measure = Measure::latency, .iterations = 5};
  FakeTransport transport(bench.clock);
  EXPECT_EQ(bench.start(transport)->latency.percentile_ns(0.5), 1000U);
}

TEST(Latency, by_send_waits_for_the_answer) {
  Bench bench;
  bench.step = {.operation = Operation::send, .measure = Measure::latency, .iterations = 40};
  FakeTransport transport(bench.clock);
  transport.answers = true;
  EXPECT_EQ(bench.start(transport)->latency.count(), 40U);
}

/// The time of 100 rounds under a cap, and their latency.
struct Paced {
  double seconds = 0;
  std::uint64_t p50_ns = 0;
};

Paced paced(Operation operation) {
  Bench bench;
  bench.step.measure = Measure::latency;
  bench.step.operation = operation;
  bench.step.size_bytes = 1000;
  bench.step.iterations = 100;
  bench.step.rate_cap_bps = 800'000;  // a hundred messages a second
  FakeTransport transport(bench.clock);
  transport.answers = true;
  transport.idle_time = std::chrono::microseconds(50);
  const auto result = bench.start(transport);
  EXPECT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->latency.count(), 100U);
  return {result->seconds(), result->latency.percentile_ns(0.5).value_or(0)};
}

TEST(Latency, keeps_to_the_rate_cap_and_leaves_its_pauses_out) {
  EXPECT_NEAR(paced(Operation::read).seconds, 1, 0.01);
  EXPECT_NEAR(paced(Operation::write).seconds, 2, 0.01);  // two messages a round
  EXPECT_NEAR(paced(Operation::send).seconds, 2, 0.01);
  EXPECT_LT(paced(Operation::read).p50_ns, 100'000U);
  EXPECT_LT(paced(Operation::write).p50_ns, 100'000U);
  EXPECT_LT(paced(Operation::send).p50_ns, 100'000U);
}

TEST(Latency, under_a_rate_cap_ends_after_its_time_and_stops_when_told_to) {
  for (const auto operation : {Operation::read, Operation::write, Operation::send}) {
    Bench bench;
    bench.step = {.operation = operation,
                  .measure = Measure::latency,
                  .size_bytes = 1000,
                  .iterations = 0,
                  .duration_ms = 25,
                  .rate_cap_bps = operation == Operation::read ? 800'000U : 1'600'000U};
    FakeTransport transport(bench.clock);
    transport.answers = true;
    EXPECT_EQ(bench.start(transport)->latency.count(), 2U);
    bench.stop = true;
    EXPECT_EQ(bench.start(transport).error().message, "stopped");
  }
}

TEST(Latency, the_side_that_answers_waits_as_long_as_a_rate_cap_pauses) {
  Bench bench;
  bench.step.measure = Measure::latency;
  bench.step.operation = Operation::send;
  bench.step.size_bytes = 1000;
  bench.step.rate_cap_bps = 1600;  // a round in ten seconds
  FakeTransport transport(bench.clock);
  transport.dead = true;
  EXPECT_EQ(bench.answer(transport).error().message, "nothing moved for 20 s");
}

TEST(Latency, by_write_is_refused_where_memory_cannot_be_looked_at) {
  Bench bench;
  bench.step.measure = Measure::latency;
  FakeTransport transport(bench.clock);
  transport.memory_is_visible = false;
  EXPECT_EQ(bench.start(transport).error().code, ErrorCode::unsupported);
  EXPECT_EQ(bench.answer(transport).error().code, ErrorCode::unsupported);
}

TEST(Pace, lets_so_many_bits_pass_in_a_second) {
  const Pace::Time start;
  Pace pace(8'000'000, 1000, start);  // a thousand messages a second
  unsigned sent = 0;
  for (int ms = 0; ms < 2000; ++ms) sent += pace.take(100, start + std::chrono::milliseconds(ms));
  EXPECT_NEAR(sent, 2000, 2);
}

TEST(Pace, a_pause_is_not_made_up_for) {
  const Pace::Time start;
  Pace pace(8'000'000, 1000, start);
  EXPECT_EQ(pace.take(100, start + std::chrono::seconds(60)), 10U);
}

}  // namespace
}  // namespace railhead::bench
