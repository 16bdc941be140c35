// SPDX-License-Identifier: Apache-2.0
#include "agent/pod_answers.h"

#include <gtest/gtest.h>

#include "unit/manual_clock.h"

namespace railhead::agent {
namespace {

class PodAnswersTest : public testing::Test {
 protected:
  test::ManualClock clock_;
  PodAnswers answers_{clock_};
  container::PodHoldings pod_{"default", "a", {{"main", {{"nvidia.com/gpu", {"GPU-1"}}}}}};
};

TEST_F(PodAnswersTest, one_answer_serves_every_container_of_the_pod) {
  EXPECT_EQ(answers_.find("uid", "one"), nullptr);
  answers_.keep("uid", "one", pod_);
  for (const auto* container : {"two", "three"}) {
    const auto* known = answers_.find("uid", container);
    ASSERT_NE(known, nullptr) << container;
    EXPECT_EQ(*known, pod_);
  }
  EXPECT_EQ(answers_.find("other", "two"), nullptr);
}

TEST_F(PodAnswersTest, a_container_that_is_created_again_is_asked_for) {
  answers_.keep("uid", "one", pod_);
  EXPECT_EQ(answers_.find("uid", "one"), nullptr);
  EXPECT_EQ(answers_.find("uid", "two"), nullptr) << "the answer has gone";
}

TEST_F(PodAnswersTest, an_answer_ends) {
  answers_.keep("uid", "one", pod_);
  clock_.advance(kAnswerLife - std::chrono::milliseconds(1));
  EXPECT_NE(answers_.find("uid", "two"), nullptr);
  clock_.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(answers_.find("uid", "three"), nullptr);
  EXPECT_EQ(answers_.size(), 0U);
}

TEST_F(PodAnswersTest, the_oldest_goes_where_there_are_too_many) {
  for (std::size_t i = 0; i < kMostAnswers + 1; ++i) {
    answers_.keep("uid" + std::to_string(i), "one", pod_);
    clock_.advance(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(answers_.size(), kMostAnswers);
  EXPECT_EQ(answers_.find("uid0", "two"), nullptr);
  EXPECT_NE(answers_.find("uid1", "two"), nullptr);
}

TEST_F(PodAnswersTest, a_pod_without_uid_is_always_asked_for) {
  answers_.keep("", "one", pod_);
  EXPECT_EQ(answers_.find("", "two"), nullptr);
}

}  // namespace
}  // namespace railhead::agent
