// SPDX-License-Identifier: Apache-2.0
#include "host/back_off_host.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "host/host_error.h"
#include "unit/host/empty_host.h"
#include "unit/manual_clock.h"

namespace railhead::host {
namespace {

/// Answers every read in one way, and counts them.
class Counting final : public test::EmptyHost {
 public:
  Result<std::optional<std::string>> read(const std::string& path) override {
    ++reads;
    if (error != 0) return host_error(path, error);
    return std::optional<std::string>("7\n");
  }

  int error = 0;
  int reads = 0;
};

class BackOff : public testing::Test {
 protected:
  void look() {
    BackOffHost host(inner_, clock_, refusals_);
    answer_ = host.read("/counter");
  }

  Counting inner_;
  test::ManualClock clock_;
  Refusals refusals_;
  Result<std::optional<std::string>> answer_ = std::optional<std::string>();
};

TEST_F(BackOff, what_refused_rests_an_hour_and_then_two) {
  inner_.error = EINVAL;
  look();
  look();
  EXPECT_EQ(inner_.reads, 1);
  EXPECT_EQ(errno_of(answer_.error()), EINVAL);
  clock_.advance(std::chrono::minutes(61));
  look();
  look();
  EXPECT_EQ(inner_.reads, 2);
  clock_.advance(std::chrono::minutes(61));
  look();
  EXPECT_EQ(inner_.reads, 2);
  clock_.advance(std::chrono::minutes(60));
  look();
  EXPECT_EQ(inner_.reads, 3);
}

TEST_F(BackOff, rests_a_day_at_most) {
  inner_.error = EINVAL;
  for (int n = 0; n < 20; ++n) {
    look();
    clock_.advance(std::chrono::hours(25));
  }
  EXPECT_EQ(inner_.reads, 20);
}

TEST_F(BackOff, other_answers_are_asked_for_each_time) {
  look();
  look();
  EXPECT_EQ(inner_.reads, 2);
  inner_.error = EIO;
  look();
  look();
  EXPECT_EQ(inner_.reads, 4);
}

TEST_F(BackOff, a_file_that_answers_again_begins_anew) {
  inner_.error = EINVAL;
  look();
  clock_.advance(std::chrono::minutes(61));
  inner_.error = 0;
  look();
  EXPECT_TRUE(answer_.has_value());
  inner_.error = EINVAL;
  look();
  clock_.advance(std::chrono::minutes(61));
  look();
  EXPECT_EQ(inner_.reads, 4);
}

}  // namespace
}  // namespace railhead::host
