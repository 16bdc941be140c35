// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <sstream>

#include "base/text.h"
#include "unit/cli/program.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

/// Each command and those below it: {"setup", "plan"}.
std::vector<std::vector<std::string>> every_command() {
  std::vector<std::vector<std::string>> all;
  const auto page = run({"help", "--markdown"}).out;
  for (const auto line : split(page, '\n')) {
    if (!line.starts_with("## railhead ")) continue;
    auto& words = all.emplace_back();
    for (const auto word : split_words(line.substr(12))) words.emplace_back(word);
  }
  return all;
}

TEST(Help, has_an_example_and_exit_codes_for_each_command) {
  EXPECT_GT(every_command().size(), 25U);
  for (auto words : every_command()) {
    const auto name = "railhead " + join(words, " ");
    words.emplace_back("--help");
    const auto said = run(words);
    EXPECT_EQ(said.code, cli::kExitOk) << name;
    EXPECT_THAT(said.out, testing::ContainsRegex("Examples?: ")) << name;
    EXPECT_THAT(said.out.substr(said.out.rfind("Example")), HasSubstr(name)) << name;
    EXPECT_THAT(said.out, HasSubstr("Exit codes: 0")) << name;
  }
}

TEST(Help, fits_a_terminal_of_80_columns) {
  EXPECT_LE(longest_line(run({"--help"}).out), 80U);
  for (auto words : every_command()) {
    words.emplace_back("--help");
    EXPECT_LE(longest_line(run(words).out), 82U) << join(words, " ");  // "…" is three bytes
  }
}

TEST(Help, is_the_same_by_command_and_by_flag) {
  EXPECT_EQ(run({"help", "nics"}).out, run({"nics", "--help"}).out);
  EXPECT_EQ(run({"help", "setup", "plan"}).out, run({"setup", "plan", "--help"}).out);
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  const auto said = run({"help", "nisc"});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_THAT(said.err, HasSubstr("did you mean nics?"));
}

TEST(Help, does_not_show_what_is_only_kept_for_old_scripts) {
  EXPECT_THAT(run({"snapshot", "--help"}).out, Not(HasSubstr("--output")));
}

TEST(Usage, a_mistyped_word_is_recognised) {
  EXPECT_THAT(run({"topologie"}).err,
              HasSubstr("no command \"topologie\"; did you mean topology?"));
  EXPECT_THAT(run({"topology", "--snapshto", "x"}).err, HasSubstr("did you mean --snapshot?"));
  EXPECT_THAT(run({"nics", "-o", "jsn"}).err, HasSubstr("did you mean json?"));
  EXPECT_THAT(run({"setup", "plann"}).err, HasSubstr("did you mean plan?"));
  EXPECT_THAT(run({"nics", "more"}).err, HasSubstr("railhead nics: no use for \"more\""));
}

TEST(Usage, a_mistyped_name_or_word_of_an_option_is_recognised) {
  for (const auto& [words, meant] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"doctor", "--check", "link.port-stat"},
            "no check \"link.port-stat\"; did you mean link.port-state? --list names all"},
           {{"doctor", "--explain", "link.ratee"}, "did you mean link.rate?"},
           {{"doctor", "--check", "kube.pendin"},
            "did you mean kube.pending? --kube --list names those of a cluster"},
           {{"doctor", "--kube", "--explain", "kube.pendin"}, "did you mean kube.pending?"},
           {{"lint", "--explain", "pod.memlok"}, "did you mean pod.memlock? --list names all"},
           {{"setup", "profile", "bare-metal"}, "did you mean bare-metal-ib?"},
           {{"setup", "plan", "--profile", "rocee"}, "did you mean roce?"},
           {{"setup", "plan", "--profile", "roce", "--allow", "R22"}, "did you mean R2?"},
           {{"completion", "bsah"}, "did you mean bash?"},
           {{"nics", "--color", "alway"}, "did you mean always?"}}) {
    const auto said = run(words);
    EXPECT_EQ(said.code, cli::kExitUsage) << join(words, " ");
    EXPECT_THAT(said.err, HasSubstr(meant));
    EXPECT_EQ(said.out, "");
  }
}

TEST(Usage, says_in_plain_words_what_is_missing_or_too_much) {
  for (const auto& [words, what] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{}, "railhead: no command is named\n"},
           {{"setup"}, "railhead setup: no command is named\n"},
           {{"nics", "--snapshot"}, "railhead nics: a value is missing: --snapshot FILE\n"},
           {{"nics", "--color"}, "a value is missing: --color auto|always|never\n"},
           {{"nics", "--snapshot=a", "--snapshot=b"}, "--snapshot is given more than once\n"},
           {{"snapshot", "-o", "x", "-o", "y"}, "an option is given more than once\n"},
           {{"help", "--man=x"}, "railhead help: --man takes no value, and \"x\" is given\n"},
           {{"nics", "-w=x"}, "railhead nics: no use for \"x\"\n"},
           {{"nics", "-o=jsn"}, "\"jsn\" is not a format of this command"},
           {{"pods", "-n="}, "a value is missing: -n, --namespace NAMESPACE\n"},
           {{"doctor", "--pid", "x"}, "--pid: \"x\" is no number from 1 to 2147483647\n"},
           {{"doctor", "--pid", "0"}, "--pid: \"0\" is no number from 1 to 2147483647\n"},
           {{"nics", "--config", ""}, "a value is missing: --config FILE\n"},
           {{"nics", "--snapshot", ""}, "a value is missing: --snapshot FILE\n"},
           {{"topology", "--nccl-topo", ""}, "a value is missing: --nccl-topo FILE\n"},
           {{"doctor", "--explain", ""}, "railhead doctor: a value is missing: --explain ID\n"},
           {{"doctor", "--pod="}, "a value is missing: --pod NAMESPACE/NAME\n"},
           {{"pods", "-n", ""}, "a value is missing: -n, --namespace NAMESPACE\n"},
           {{"lint", "a.yaml", ""}, "railhead lint: a value is missing: FILE\n"},
           {{"setup", "plan", "--from="}, "a value is missing: --from FILE\n"}}) {
    const auto said = run(words);
    EXPECT_EQ(said.code, cli::kExitUsage) << join(words, " ");
    EXPECT_THAT(said.err, HasSubstr(what));
    EXPECT_EQ(said.out, "");
  }
}

TEST(Usage, an_empty_setting_says_none) {
  EXPECT_EQ(run_on("dgx-h100", "topology", {"--topology-file="}).code, cli::kExitOk);
  const auto said = run({"config", "--metrics-socket=", "--bind-address=", "--nfd-file", "a/b"});
  EXPECT_THAT(said.err, HasSubstr("nfd.file: \"a/b\" is not an absolute path"));
  EXPECT_EQ(run({"config", "--bind-address", "", "--metrics-socket="}).code, cli::kExitOk);
}

TEST(Help, says_the_unit_of_a_default_time_and_no_default_twice) {
  const auto help = run({"help", "agent"}).out;
  EXPECT_THAT(help, HasSubstr("[30s]"));
  EXPECT_THAT(help, HasSubstr("0: never [0]"));
  EXPECT_THAT(help, HasSubstr("default: the host name\n"));
}

TEST(Usage, an_error_holds_nothing_that_a_terminal_takes_for_its_own) {
  const auto said = run({"nics", "--snapshot", "/no/\x1b[31m\xff"});
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_THAT(said.err, HasSubstr("/no/\xef\xbf\xbd[31m\xef\xbf\xbd: no such file"));
}

TEST(Usage, a_snapshot_has_one_format_and_makes_no_file_of_that_name) {
  const auto said = run({"snapshot", "-o", "json"});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_THAT(said.err, HasSubstr("json is a format, and a snapshot has one only"));
}

TEST(Usage, a_machine_is_named_once) {
  const auto said = run({"nics", "--snapshot", "a.node", "--host-root", "/tmp"});
  EXPECT_EQ(said.code, cli::kExitUsage);
  EXPECT_THAT(said.err, HasSubstr("--host-root"));
}

TEST(Version, says_commit_and_compiler) {
  const auto said = run({"version"});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.out, testing::StartsWith("railhead "));
  EXPECT_THAT(said.out, HasSubstr("\ncommit: "));
  const auto json = run({"version", "-o", "json"}).json();
  EXPECT_EQ(json["kind"], "Version");
  EXPECT_TRUE(json.contains("commit"));
  EXPECT_NE(json["compiler"], nullptr);
}

TEST(Output, is_red_where_it_is_asked_for_and_only_there) {
  EXPECT_THAT(run_on("dgx-h100-degraded", "nics").out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run_on("dgx-h100-degraded", "nics", {"--color", "always"}).out,
              HasSubstr("\x1b[31mDOWN\x1b[0m"));
  EXPECT_THAT(run_on("dgx-h100-degraded", "nics", {"-o", "json", "--color", "always"}).out,
              Not(HasSubstr("\x1b")));
}

/// The command with standard output on a terminal of 80 columns.
std::string on_terminal(const std::string& command, const host::Environment& environment) {
  return run_before({true, 80},
                    {command, "--snapshot", source_dir() + "/tests/nodes/dgx-h100-degraded.node"},
                    environment)
      .out;
}

TEST(Output, goes_by_the_terminal_and_by_no_color) {
  EXPECT_THAT(on_terminal("nics", {}), HasSubstr("\x1b[31m"));
  EXPECT_THAT(on_terminal("nics", {{"NO_COLOR", "1"}}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(on_terminal("nics", {{"TERM", "dumb"}}), Not(HasSubstr("\x1b")));
}

TEST(Output, tables_fit_the_terminal_or_what_columns_says) {
  const auto table = [](const std::string& text) { return text.substr(0, text.find("\n\n")); };
  for (const char* command : {"nics", "topology", "affinity", "pools"}) {
    const host::Environment plain = {{"NO_COLOR", "1"}};
    // "…" is three bytes and one column.
    EXPECT_LE(longest_line(table(on_terminal(command, plain))), 82U) << command;
    EXPECT_LE(longest_line(table(on_terminal(command, {{"NO_COLOR", "1"}, {"COLUMNS", "60"}}))),
              62U)
        << command;
  }
}

TEST(Output, a_matrix_that_is_too_wide_has_a_line_a_nic) {
  const auto text = on_terminal("topology", {{"NO_COLOR", "1"}});
  EXPECT_THAT(text, testing::ContainsRegex("NIC +GPU0 +GPU1"));
  EXPECT_THAT(text, testing::ContainsRegex("mlx5_0 +PXB"));
}

TEST(Output, can_lack_headers) {
  const auto with = run_on("dgx-h100", "nics").out;
  const auto without = run_on("dgx-h100", "nics", {"--no-headers"}).out;
  EXPECT_THAT(with, testing::StartsWith("NAME "));
  EXPECT_THAT(without, testing::StartsWith("mlx5_0 "));
}

TEST(Output, of_a_pipe_is_data_and_notes_are_apart) {
  const auto machine = source_dir() + "/tests/nodes/dgx-h100-degraded.node";
  for (const char* command : {"nics", "topology", "affinity"}) {
    const auto said = run_in_pipe({command, "--snapshot", machine});
    EXPECT_THAT(said.out, Not(HasSubstr("WARNINGS"))) << command;
    EXPECT_THAT(said.err, HasSubstr("WARNINGS\n")) << command;
    const auto shown = run({command, "--snapshot", machine});
    EXPECT_THAT(shown.out, HasSubstr("\n\nWARNINGS\n")) << command;
    EXPECT_EQ(shown.err, "") << command;
    for (const char* format : {"json", "yaml"}) {
      EXPECT_EQ(run_in_pipe({command, "-o", format, "--snapshot", machine}).err, "") << command;
    }
  }
}

TEST(Output, without_headers_is_the_rows_of_the_first_table) {
  const auto machine = source_dir() + "/tests/nodes/dgx-h100-degraded.node";
  const std::map<std::vector<std::string>, std::string> first = {
      {{"nics"}, "mlx5_\\d+|0000:4f:00.0"},
      {{"topology"}, "GPU\\d"},
      {{"affinity", "--explain"}, "GPU\\d"},
      {{"pools", "-o", "wide"}, "rdma.io/hca"},
      {{"doctor", "--all"}, "PASS|WARN|FAIL|UNKNOWN|SKIP"},
  };
  for (const auto& [words, word] : first) {
    auto command = words;
    command.insert(command.end(), {"--no-headers", "--snapshot", machine});
    for (const auto& said : {run(command), run_in_pipe(command)}) {
      EXPECT_NE(said.out, "") << command.front() << said.err;
      std::istringstream lines(said.out);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_TRUE(std::regex_match(line.substr(0, line.find(' ')), std::regex(word)))
            << command.front() << ": " << line;
      }
      EXPECT_NE(said.err, "") << command.front();
    }
  }
}

TEST(ExitCode, of_a_degraded_machine_is_that_of_a_problem) {
  for (const char* command : {"nics", "topology", "affinity"}) {
    EXPECT_EQ(run_on("dgx-h100", command).code, cli::kExitOk) << command;
    const auto said = run_on("dgx-h100-degraded", command);
    EXPECT_EQ(said.code, cli::kExitProblem) << command;
    EXPECT_THAT(run_on("dgx-h100-degraded", command, {"-o", "json"}).json()["warnings"],
                Not(testing::IsEmpty()))
        << command;
  }
  // A format says the same in another form.
  for (const char* format : {"wide", "json", "yaml", "tree", "svg", "dot", "nccl"}) {
    EXPECT_EQ(run_on("dgx-h100-degraded", "topology", {"-o", format}).code, cli::kExitProblem)
        << format;
  }
}

TEST(Gpus, are_named_as_they_are_printed) {
  const auto by_number = run_on("dgx-h100", "affinity", {"--gpus", "0,1"});
  EXPECT_EQ(run_on("dgx-h100", "affinity", {"--gpus", "GPU0,GPU1"}).out, by_number.out);
  EXPECT_EQ(run_on("dgx-h100", "affinity", {"--gpus", "GPU9"}).code, cli::kExitUsage);
}

TEST(NoRdma, is_said_with_the_command_that_tells_more) {
  for (const char* command : {"nics", "topology", "affinity", "pools"}) {
    EXPECT_THAT(run_on("gpus-only", command).out, HasSubstr("railhead doctor")) << command;
  }
}

}  // namespace
}  // namespace railhead::test
