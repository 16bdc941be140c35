// SPDX-License-Identifier: Apache-2.0
// How calls are answered is tested through the conversation; here, when at the latest.
#include "nri/create_calls.h"

#include <gtest/gtest.h>

#include <limits>

namespace railhead::nri {
namespace {

using std::chrono::milliseconds;

TEST(CreateCalls, the_own_deadline_is_a_share_of_the_runtimes_timeout) {
  EXPECT_EQ(own_deadline(milliseconds(2000), 0, 0.65), milliseconds(1300));
  EXPECT_EQ(own_deadline(milliseconds(2000), 0, 0.5), milliseconds(1000));
}

TEST(CreateCalls, less_time_in_the_request_itself_counts) {
  EXPECT_EQ(own_deadline(milliseconds(2000), 100'000'000, 0.5), milliseconds(50));
  EXPECT_EQ(own_deadline(milliseconds(2000), 9'000'000'000, 0.5), milliseconds(1000));
  EXPECT_EQ(own_deadline(milliseconds(2000), 1, 0.5), milliseconds(0));
}

TEST(CreateCalls, a_negative_timeout_says_nothing) {
  EXPECT_EQ(own_deadline(milliseconds(2000), std::numeric_limits<std::int64_t>::min(), 0.5),
            milliseconds(1000));
}

}  // namespace
}  // namespace railhead::nri
