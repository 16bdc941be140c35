// SPDX-License-Identifier: Apache-2.0
#include "bench/counters.h"

#include <gtest/gtest.h>

#include "snapshot/snapshot_host.h"

namespace railhead::bench {
namespace {

TEST(Counters, those_that_grew_are_told_and_those_that_appeared_are_not) {
  const Counters before{{"counters/a", 1}, {"counters/b", 2}};
  const Counters after{{"counters/a", 1}, {"counters/b", 5}, {"counters/new", 7}};
  const auto changed = changes(before, after);
  EXPECT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed["counters/b"]["before"], 2);
  EXPECT_EQ(changed["counters/b"]["after"], 5);
}

TEST(Counters, data_is_counted_in_words_of_four_bytes) {
  Counters before{{"counters/port_xmit_data", 10}, {"counters/port_rcv_data", 20}};
  Counters after{{"counters/port_xmit_data", 11}, {"counters/port_rcv_data", 22}};
  const auto moved = port_bytes(before, after);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->sent, 4U);
  EXPECT_EQ(moved->received, 8U);
}

TEST(Counters, one_that_was_reset_or_is_not_there_says_nothing) {
  const Counters before{{"counters/port_xmit_data", 10}, {"counters/port_rcv_data", 20}};
  const Counters reset{{"counters/port_xmit_data", 3}, {"counters/port_rcv_data", 22}};
  EXPECT_FALSE(port_bytes(before, reset));
  EXPECT_FALSE(port_bytes({}, reset));
}

TEST(Counters, a_port_without_counters_has_none) {
  const auto host = snapshot::SnapshotHost::parse("railhead-snapshot 1\n").value();
  Place place;
  place.nic = "rxe0";
  EXPECT_TRUE(read_counters(*host, place).empty());
}

}  // namespace
}  // namespace railhead::bench
