// SPDX-License-Identifier: Apache-2.0
#include "shell/command_page.h"

#include <gmock/gmock.h>

namespace railhead::shell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CommandPage, words_of_a_value_are_those_in_lower_case) {
  OptionPage option;
  option.shape = "unlimited|BYTES";
  EXPECT_THAT(option.words(), ElementsAre("unlimited"));
  option.shape = "TEXT:{R1,R2}";
  EXPECT_THAT(option.words(), ElementsAre("R1", "R2"));
  option.shape = "FILE";
  EXPECT_THAT(option.words(), ElementsAre());
}

TEST(CommandPage, man_page_escapes_what_groff_acts_on) {
  CommandPage page;
  page.name = "railhead x";
  page.help = ".so /etc/passwd";
  page.footer = "'nothing\n\\fB";
  const auto text = to_man_page(page, "1.0", "2026-01-31");
  EXPECT_THAT(text, HasSubstr("\\&.so /etc/passwd"));
  EXPECT_THAT(text, HasSubstr("\n\\&'nothing\n\\efB"));
  EXPECT_THAT(text, HasSubstr(".TH RAILHEAD-X 1 \"2026-01-31\" \"railhead 1.0\""));
}

/// A program of two words with one command.
CommandPage program() {
  OptionPage output;
  output.names = {"-o", "--output"};
  output.shape = "table|json";
  CommandPage pair;
  pair.name = "rail-bench pair";
  pair.options = {output};
  CommandPage page;
  page.name = "rail-bench";
  page.commands = {pair};
  return page;
}

TEST(Completion, is_of_the_program_by_its_name) {
  const auto bash = to_completion(program(), "bash");
  EXPECT_THAT(bash, HasSubstr("_rail_bench() {"));
  EXPECT_THAT(bash, HasSubstr("at=rail-bench "));
  EXPECT_THAT(bash, HasSubstr("\"rail-bench pair --output\""));
  EXPECT_THAT(bash, testing::EndsWith("complete -F _rail_bench rail-bench\n"));
  EXPECT_THAT(to_completion(program(), "zsh"), testing::StartsWith("#compdef rail-bench\n"));
  EXPECT_THAT(to_completion(program(), "fish"), HasSubstr("complete -c rail-bench -n "));
}

}  // namespace
}  // namespace railhead::shell
