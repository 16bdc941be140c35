// SPDX-License-Identifier: Apache-2.0
#include "host/clock.h"

#include <gtest/gtest.h>

namespace railhead {
namespace {

using std::chrono::seconds;

TEST(Clock, a_manual_one_stands_still_until_it_is_moved) {
  ManualClock clock;
  const auto start = clock.now();
  const auto date = clock.calendar();
  EXPECT_EQ(clock.now(), start);
  clock.advance(seconds(5));
  EXPECT_EQ(clock.now() - start, seconds(5));
  EXPECT_EQ(clock.calendar() - date, seconds(5));
}

TEST(Clock, the_systems_never_goes_back) {
  SystemClock clock;
  const auto start = clock.now();
  EXPECT_GE(clock.now(), start);
}

}  // namespace
}  // namespace railhead
