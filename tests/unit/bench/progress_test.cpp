// SPDX-License-Identifier: Apache-2.0
#include "bench/progress.h"

#include <gmock/gmock.h>

#include <sstream>

#include "unit/manual_clock.h"

namespace railhead::bench {
namespace {

using testing::HasSubstr;

TEST(Progress, says_what_moved_since_it_last_spoke_and_anew_for_each_step) {
  std::ostringstream out;
  test::ManualClock clock;
  Progress progress(out, clock, true);
  clock.advance(std::chrono::seconds(1));
  progress.show(Step(), 125'000'000);
  EXPECT_THAT(out.str(), HasSubstr("1.000 Gb/s, 125.0 MB so far"));
  clock.advance(std::chrono::seconds(1));
  progress.show(Step(), 375'000'000);
  EXPECT_THAT(out.str(), HasSubstr("2.000 Gb/s"));
  clock.advance(std::chrono::seconds(1));
  progress.show(Step(), 62'500'000);
  EXPECT_THAT(out.str(), HasSubstr("0.500 Gb/s"));
}

TEST(Progress, is_silent_where_nobody_watches_and_divides_by_no_time) {
  std::ostringstream out;
  test::ManualClock clock;
  Progress silent(out, clock, false);
  silent.show(Step(), 1);
  silent.clear();
  EXPECT_EQ(out.str(), "");
  Progress shown(out, clock, true);
  shown.show(Step(), 1);
  EXPECT_THAT(out.str(), HasSubstr("0.000 Gb/s"));
  shown.clear();
  EXPECT_EQ(out.str().back(), '\r');
}

}  // namespace
}  // namespace railhead::bench
