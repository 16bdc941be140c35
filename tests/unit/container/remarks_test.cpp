// SPDX-License-Identifier: Apache-2.0
#include "container/remarks.h"

#include <string>

#include <gtest/gtest.h>

namespace railhead::container {
namespace {

TEST(Remarks, keeps_so_many_and_counts_the_rest) {
  Remarks few(2);
  for (int i = 0; i < 5; ++i) few.add("code", std::to_string(i));
  EXPECT_EQ(few.size(), 2U);
  EXPECT_EQ(few.more(), 3U);
  Remarks all(3);
  all.add("code", "first");
  all.append(few);
  all.append(few);
  EXPECT_EQ(all.size(), 3U);
  EXPECT_EQ(all.more(), 2U + 3U + 3U);
}

TEST(Remarks, cuts_a_long_text_between_characters) {
  Remarks remarks;
  remarks.add("code", "x" + std::string(600, 'y'));
  EXPECT_EQ(remarks[0].text.size(), Remarks::kMostBytes);
  std::string umlauts;
  for (int i = 0; i < 400; ++i) umlauts += "ü";
  remarks.add("code", "x" + umlauts);
  EXPECT_LE(remarks[1].text.size(), Remarks::kMostBytes);
  EXPECT_EQ(remarks[1].text.substr(remarks[1].text.size() - 5), "ü…");
}

}  // namespace
}  // namespace railhead::container
