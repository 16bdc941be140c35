// SPDX-License-Identifier: Apache-2.0
#include "bench/contents.h"

#include <gmock/gmock.h>

#include <cstring>

namespace railhead::bench {
namespace {

using testing::HasSubstr;

/// Both ends of a lane with two queue pairs, and a network that copies slot by slot.
class ContentsTest : public testing::Test {
 protected:
  ContentsTest() {
    plan_.queue_pairs = 2;
    plan_.max_size_bytes = step_.size_bytes = 1000;
    layout_ = Layout::of(plan_);
    for (auto* side : {&here_, &there_}) *side = allocate_host(layout_.length_bytes(), {}).value();
  }

  void prepare() {
    ASSERT_TRUE(fill_contents(*here_, layout_, step_, 0, Part::initiator));
    ASSERT_TRUE(fill_contents(*there_, layout_, step_, 0, Part::responder));
  }

  /// From a slot of ours to one of the other side.
  void move(unsigned pair, unsigned from, unsigned to) {
    std::memcpy(there_->bytes() + layout_.target(pair, to),
                here_->bytes() + layout_.source(pair, from), step_.size_bytes);
  }

  void move_ring(unsigned first = 0) {
    for (unsigned pair = 0; pair < plan_.queue_pairs; ++pair) {
      for (unsigned i = 0; i < layout_.slots; ++i) move(pair, i, (first + i) % layout_.slots);
    }
  }

  [[nodiscard]] std::string difference(unsigned first = 0) const {
    const auto status = check_contents(*there_, layout_, step_, 0, Part::responder, {first, first});
    return status ? "" : status.error().message;
  }

  Plan plan_;
  Step step_;
  Layout layout_;
  std::unique_ptr<Buffer> here_;
  std::unique_ptr<Buffer> there_;
};

TEST_F(ContentsTest, one_wrong_byte_in_any_message_of_a_ring_is_seen) {
  step_.ring = true;
  prepare();
  move_ring();
  EXPECT_EQ(difference(), "");
  there_->bytes()[layout_.target(1, 5) + 321] ^= std::byte{1};
  EXPECT_THAT(difference(), HasSubstr("message 5 of queue pair 1: byte 321 is not what was sent"));
}

TEST_F(ContentsTest, a_message_that_is_twice_there_is_not_the_other) {
  step_.ring = true;
  prepare();
  move_ring();
  move(0, 3, 4);
  EXPECT_THAT(difference(), HasSubstr("message 4 of queue pair 0"));
}

TEST_F(ContentsTest, a_message_that_never_arrived_is_seen) {
  step_.ring = true;
  prepare();
  move(0, 0, 0);
  EXPECT_THAT(difference(), HasSubstr("message 1 of queue pair 0: byte 0"));
}

TEST_F(ContentsTest, what_is_received_begins_where_the_last_step_ended) {
  step_.ring = true;
  prepare();
  move_ring(7);
  EXPECT_EQ(difference(7), "");
  EXPECT_THAT(difference(6), HasSubstr("message 0"));
}

TEST_F(ContentsTest, of_a_measurement_the_last_message_is_compared) {
  prepare();
  move(0, 0, 0);
  EXPECT_THAT(difference(), HasSubstr("the last message of queue pair 1"));
  move(1, 0, 0);
  EXPECT_EQ(difference(), "");
}

TEST_F(ContentsTest, a_latency_by_write_compares_all_but_the_byte_that_counts) {
  step_.measure = Measure::latency;
  EXPECT_EQ(bytes_compared(step_), 999U);
  step_.operation = Operation::send;
  EXPECT_EQ(bytes_compared(step_), 1000U);
}

}  // namespace
}  // namespace railhead::bench
