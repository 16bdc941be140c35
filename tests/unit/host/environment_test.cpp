// SPDX-License-Identifier: Apache-2.0
#include "host/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace railhead::host {
namespace {

TEST(Environment, holds_what_this_process_was_given) {
  ASSERT_EQ(::setenv("RAILHEAD_TEST_A", "x=y", 1), 0);
  ASSERT_EQ(::setenv("RAILHEAD_TEST_B", "", 1), 0);
  ASSERT_EQ(::unsetenv("RAILHEAD_TEST_C"), 0);
  const Environment variables = read_environment();
  EXPECT_EQ(variables.at("RAILHEAD_TEST_A"), "x=y");
  EXPECT_EQ(variables.at("RAILHEAD_TEST_B"), "");
  EXPECT_FALSE(variables.contains("RAILHEAD_TEST_C"));
}

}  // namespace
}  // namespace railhead::host
