// SPDX-License-Identifier: Apache-2.0
#include "base/variable.h"

#include <gtest/gtest.h>

namespace railhead {
namespace {

TEST(Variable, is_set_by_its_whole_name_and_an_equals_sign) {
  EXPECT_TRUE(sets_variable("RANK=1", "RANK"));
  EXPECT_TRUE(sets_variable("RANK=", "RANK"));
  for (const char* entry : {"", "RANK", "RANKS=1", "RAN=1", "=1", "XRANK=1"}) {
    EXPECT_FALSE(sets_variable(entry, "RANK")) << entry;
  }
  EXPECT_FALSE(sets_variable("=1", "")) << "a row without a variable";
}

TEST(Variable, has_the_last_value_without_blanks_at_its_ends) {
  const std::vector<std::string_view> environment{"A=1", "B=", "A= 2 ", "A"};
  EXPECT_EQ(variable_in(environment, "A"), "2");
  EXPECT_EQ(variable_in(environment, "B"), "");
  EXPECT_EQ(variable_in(environment, "C"), std::nullopt);
}

}  // namespace
}  // namespace railhead
