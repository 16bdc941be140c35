// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(BenchCommand, without_its_program_says_what_is_missing_and_where) {
  const auto said = run({"bench", "pair", "a", "b"}, {{"PATH", "/no/such/folder"}});
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("railhead-bench is not installed"));
  EXPECT_THAT(said.err, HasSubstr("/no/such/folder"));
  EXPECT_THAT(said.out, IsEmpty());
}

TEST(BenchCommand, leaves_its_help_and_its_options_to_its_program) {
  for (const auto* option : {"--help", "--no-such-option", "--version"}) {
    const auto said = run({"bench", option}, {{"PATH", "/no/such/folder"}});
    EXPECT_THAT(said.err, HasSubstr("railhead-bench is not installed")) << option;
  }
}

}  // namespace
}  // namespace railhead::test
