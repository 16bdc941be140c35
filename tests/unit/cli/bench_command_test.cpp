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

TEST(BenchCommand, has_its_help_and_knows_its_words_without_its_program) {
  const host::Environment nowhere = {{"PATH", "/no/such/folder"}};
  const auto help = run({"bench", "pair", "--help"}, nowhere);
  EXPECT_EQ(help.code, cli::kExitOk);
  EXPECT_THAT(help.out, HasSubstr("--rate-cap RATE"));
  const auto mistyped = run({"bench", "pair", "a", "b", "--iteratoins", "5"}, nowhere);
  EXPECT_EQ(mistyped.code, cli::kExitUsage);
  EXPECT_THAT(mistyped.err, HasSubstr("did you mean --iterations?"));
}

TEST(BenchCommand, refuses_numbers_before_it_looks_for_nics) {
  const host::Environment nowhere = {{"PATH", "/no/such/folder"}};
  for (const auto& [option, value] :
       {std::pair("--require", "nan"), std::pair("--require", "2"), std::pair("--mtu", "9000")}) {
    EXPECT_EQ(run({"bench", "pair", "a", "b", option, value}, nowhere).code, cli::kExitUsage)
        << option << " " << value;
  }
  EXPECT_EQ(run({"bench", "pair", "a", "b", "--require", "0.9"}, nowhere).code, 2);
}

}  // namespace
}  // namespace railhead::test
