// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <gtest/gtest.h>

namespace railhead {
namespace {

std::int64_t milliseconds_of(std::string_view text) {
  const auto time = parse_duration(text, std::chrono::seconds(1));
  return time ? time->count() : -1;
}

TEST(Duration, has_a_unit_or_counts_the_callers) {
  EXPECT_EQ(milliseconds_of("30"), 30'000);
  EXPECT_EQ(milliseconds_of("30s"), 30'000);
  EXPECT_EQ(milliseconds_of("500ms"), 500);
  EXPECT_EQ(milliseconds_of("1.5s"), 1500);
  EXPECT_EQ(milliseconds_of("5m"), 300'000);
  EXPECT_EQ(milliseconds_of("1h"), 3'600'000);
  EXPECT_EQ(milliseconds_of("0"), 0);
  EXPECT_EQ(parse_duration("70", std::chrono::milliseconds(1))->count(), 70);
}

TEST(Duration, what_is_none_is_refused) {
  for (const char* text : {"", "s", "fast", "-1s", "1.2.3s", "1.s", "1d", "1 s", "9999h", "1e3",
                           "18446744073709551615h", "1.1234567s"}) {
    EXPECT_EQ(milliseconds_of(text), -1) << text;
  }
}

}  // namespace
}  // namespace railhead
