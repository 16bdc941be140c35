// SPDX-License-Identifier: Apache-2.0
#include "nri/backoff.h"

#include <gtest/gtest.h>

namespace railhead::nri {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, the_ceiling_doubles_up_to_the_maximum) {
  Backoff backoff(milliseconds(100), milliseconds(500), nullptr);
  EXPECT_EQ(backoff.next(), milliseconds(200));
  EXPECT_EQ(backoff.next(), milliseconds(400));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(backoff.next(), milliseconds(500));
}

TEST(Backoff, jitter_is_full_and_keeps_the_minimum) {
  double random = 0;
  Backoff backoff(milliseconds(100), milliseconds(5000), [&random] { return random; });
  EXPECT_EQ(backoff.next(), milliseconds(100));
  random = 0.5;
  EXPECT_EQ(backoff.next(), milliseconds(250));
}

TEST(Backoff, starts_again_after_a_reset) {
  Backoff backoff(milliseconds(100), milliseconds(5000), nullptr);
  backoff.next();
  backoff.next();
  backoff.reset();
  EXPECT_EQ(backoff.next(), milliseconds(200));
}

TEST(Backoff, nonsense_never_becomes_a_busy_loop) {
  Backoff backoff(milliseconds(-5), milliseconds(-9), [] { return -7.0; });
  for (int i = 0; i < 5; ++i) EXPECT_GE(backoff.next(), milliseconds(1));
}

}  // namespace
}  // namespace railhead::nri
