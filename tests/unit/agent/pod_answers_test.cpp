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

TEST_F(PodAnswersTest, an_answer_given_to_nobody_serves_each_once) {
  answers_.keep("uid", pod_);
  EXPECT_NE(answers_.find("uid", "one"), nullptr);
  EXPECT_NE(answers_.find("uid", "two"), nullptr);
  EXPECT_EQ(answers_.find("uid", "one"), nullptr) << "it is created again";
}

TEST_F(PodAnswersTest, a_newer_answer_takes_the_place_of_the_older) {
  answers_.keep("uid", pod_);
  clock_.advance(kAnswerLife / 2);
  auto newer = pod_;
  newer.containers[0].devices.clear();
  answers_.keep("uid", newer);
  clock_.advance(kAnswerLife / 2);
  const auto* known = answers_.find("uid", "one");
  ASSERT_NE(known, nullptr) << "the end of the older is not that of the newer";
  EXPECT_EQ(*known, newer);
  answers_.forget("uid");
  EXPECT_EQ(answers_.find("uid", "two"), nullptr);
}

TEST_F(PodAnswersTest, they_take_a_mebibyte_at_most) {
  auto large = pod_;
  large.containers[0].devices[0].ids.assign(1, std::string(kMostAnswerBytes / 3, 'x'));
  for (const auto* uid : {"uid0", "uid1", "uid2"}) {
    answers_.keep(uid, large);
    clock_.advance(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(answers_.size(), 2U);
  EXPECT_EQ(answers_.find("uid0", "one"), nullptr);
  large.containers[0].devices[0].ids.assign(1, std::string(kMostAnswerBytes, 'x'));
  answers_.keep("uid3", large);
  EXPECT_EQ(answers_.size(), 2U) << "one that alone is too large takes nobody's place";
  EXPECT_EQ(answers_.find("uid3", "one"), nullptr);
}

TEST_F(PodAnswersTest, a_pod_without_uid_is_always_asked_for) {
  answers_.keep("", "one", pod_);
  EXPECT_EQ(answers_.find("", "two"), nullptr);
}

}  // namespace
}  // namespace railhead::agent
