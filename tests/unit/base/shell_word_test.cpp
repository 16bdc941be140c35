// SPDX-License-Identifier: Apache-2.0
#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace railhead {
namespace {

TEST(ShellWord, is_one_word_whatever_is_in_it) {
  EXPECT_EQ(shell_word("kube-system"), "kube-system");
  EXPECT_EQ(shell_word("/var/lib/a.b_c"), "/var/lib/a.b_c");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("x;touch P;$(id)"), "'x;touch P;$(id)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("a b\n*~"), "'a b\n*~'");
}

}  // namespace
}  // namespace railhead
