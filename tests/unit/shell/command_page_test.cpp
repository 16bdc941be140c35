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
  page.footer = "'nothing.\n\\fB";
  const auto text = to_man_page(page, "1.0", "2026-01-31");
  EXPECT_THAT(text, HasSubstr("\\&.so \\%/etc/passwd"));
  EXPECT_THAT(text, HasSubstr("\n\\&'nothing.\n.PP\n\\efB\n"));
  EXPECT_THAT(text, HasSubstr(".TH RAILHEAD-X 1 \"2026-01-31\" \"railhead 1.0\""));
}

/// A server that must be told where to listen.
CommandPage server() {
  CommandPage page;
  page.name = "rail-bench server";
  page.help = "Serve";
  OptionPage at;
  at.names = {"--bind-address"};
  at.shape = "HOST:PORT";
  at.is_required = true;
  OptionPage free;
  free.names = {"--idle-limit"};
  free.shape = "TIME";
  page.options = {at, free};
  return page;
}

TEST(CommandPage, what_is_required_stands_in_no_brackets) {
  auto page = server();
  EXPECT_THAT(help_text(page, 80),
              HasSubstr("Usage: rail-bench server --bind-address HOST:PORT [OPTIONS]\n"));
  OptionPage file;
  file.names = {"FILE"};
  file.is_argument = file.is_required = file.takes_several = true;
  page.options = {file};
  EXPECT_THAT(help_text(page, 80), HasSubstr("Usage: rail-bench server [OPTIONS] FILE…\n"));
  page.options[0].takes_several = false;
  EXPECT_THAT(help_text(page, 80), HasSubstr("Usage: rail-bench server [OPTIONS] FILE\n"));
  page.options[0].is_required = false;
  EXPECT_THAT(help_text(page, 80), HasSubstr("Usage: rail-bench server [OPTIONS] [FILE]\n"));
  EXPECT_THAT(to_man_page(page, "1.0", ""), HasSubstr("[OPTIONS] [FILE]"));
}

TEST(CommandPage, a_list_that_fits_into_no_line_is_cut_after_commas) {
  auto page = server();
  page.options[0].help = "resources [example.com/aaaaaaa,example.com/bbbbbbb]";
  const auto text = help_text(page, 50);
  EXPECT_THAT(text, HasSubstr("[example.com/aaaaaaa,\n"));
  EXPECT_THAT(text, HasSubstr(" example.com/bbbbbbb]\n"));
}

TEST(CommandPage, a_footer_fills_its_lines_and_keeps_its_examples) {
  auto page = server();
  page.footer =
      "Exit codes: 0 ok, 2 it\ncannot be told.\nAnother remark.\nExamples: rail a\n          rail "
      "b";
  EXPECT_THAT(help_text(page, 80),
              testing::EndsWith("\nExit codes: 0 ok, 2 it cannot be told.\nAnother remark.\n"
                                "Examples: rail a\n          rail b\n"));
  EXPECT_THAT(help_text(page, 20), HasSubstr("Exit codes: 0 ok, 2\nit cannot be told.\n"));
  const auto man = to_man_page(page, "1.0", "");
  EXPECT_THAT(man, HasSubstr(".SH NOTES\nExit codes: 0 ok, 2 it cannot be told.\n.PP\nAnother"));
  EXPECT_THAT(man, testing::EndsWith(".SH EXAMPLES\n.nf\nrail a\nrail b\n.fi\n"));
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
