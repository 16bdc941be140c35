// SPDX-License-Identifier: Apache-2.0
#include "host/clock.h"

#include <gtest/gtest.h>

#include "unit/manual_clock.h"

namespace railhead::host {
namespace {

using std::chrono::seconds;

TEST(Clock, a_manual_one_stands_still_until_it_is_moved) {
  test::ManualClock clock;
  const auto start = clock.now();
  const auto date = clock.calendar();
  EXPECT_EQ(clock.now(), start);
  clock.advance(seconds(5));
  EXPECT_EQ(clock.now() - start, seconds(5));
  EXPECT_EQ(clock.calendar() - date, seconds(5));
}

TEST(Clock, a_date_is_written_in_utc_to_the_second) {
  test::ManualClock clock;
  EXPECT_EQ(utc_text(clock.calendar()), "1970-01-01T00:00:00Z");
  clock.advance(std::chrono::hours(24 * 365) + std::chrono::milliseconds(1999));
  EXPECT_EQ(utc_text(clock.calendar()), "1971-01-01T00:00:01Z");
}

TEST(Clock, the_systems_never_goes_back) {
  SystemClock clock;
  const auto start = clock.now();
  EXPECT_GE(clock.now(), start);
}

}  // namespace
}  // namespace railhead::host
