// SPDX-License-Identifier: Apache-2.0
#include "base/closest.h"

#include <gtest/gtest.h>

namespace railhead {
namespace {

TEST(Closest, a_mistyped_word_is_recognised) {
  const std::vector<std::string> commands = {"topology", "affinity", "nics", "pools", "pods"};
  EXPECT_EQ(closest_word("topologie", commands), "topology");
  EXPECT_EQ(closest_word("afinity", commands), "affinity");
  EXPECT_EQ(closest_word("nisc", commands), "nics");  // swapped
  EXPECT_EQ(closest_word("pod", commands), "pods");
  EXPECT_EQ(did_you_mean("toplogy", commands), "; did you mean topology?");
}

TEST(Closest, what_is_far_from_all_is_not_guessed) {
  const std::vector<std::string> words = {"topology", "-o", "-w"};
  EXPECT_EQ(closest_word("frobnicate", words), "");
  EXPECT_EQ(closest_word("-x", {"-q"}), "-q");  // one of two letters
  EXPECT_EQ(closest_word("ab", {"cd"}), "");    // all of them are wrong
  EXPECT_EQ(closest_word("", words), "");
  EXPECT_EQ(closest_word(std::string(100000, 'a'), words), "");
  EXPECT_EQ(did_you_mean("frobnicate", words), "");
}

}  // namespace
}  // namespace railhead
