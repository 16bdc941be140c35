// SPDX-License-Identifier: Apache-2.0
#include "bench/command_line.h"

#include <gmock/gmock.h>

#include <sstream>

#include "data/json.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"

namespace railhead::bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Said {
  int code = -1;
  std::string out;
  std::string err;
};

Said bench(std::vector<std::string> words) {
  words.insert(words.begin(), "railhead-bench");
  const auto host = snapshot::SnapshotHost::parse(test::machine_text("dgx-h100"));
  EXPECT_TRUE(host);
  test::ManualClock clock;
  const host::Environment nothing;
  std::ostringstream out;
  std::ostringstream err;
  const auto code = run_bench(words, {nothing, out, err, **host, clock});
  return {code, out.str(), err.str()};
}

TEST(BenchCommandLine, each_command_has_exit_codes_and_an_example) {
  for (const char* command : {"pair", "client", "server", "version", "completion", "help"}) {
    const auto said = bench({command, "--help"});
    EXPECT_EQ(said.code, 0) << command;
    EXPECT_THAT(said.out, HasSubstr("railhead-bench " + std::string(command))) << command;
    EXPECT_THAT(said.out, HasSubstr("Exit codes: 0")) << command;
    EXPECT_THAT(said.out, HasSubstr("Example")) << command;
    EXPECT_EQ(bench({"help", command}).out, said.out) << command;
  }
}

TEST(BenchCommandLine, takes_the_flags_of_every_command_that_prints) {
  for (const char* flag :
       {"-o, --output table|wide|json|yaml", "--no-headers", "--color auto|always|never"}) {
    EXPECT_THAT(bench({"pair", "--help"}).out, HasSubstr(flag));
    EXPECT_THAT(bench({"client", "--help"}).out, HasSubstr(flag));
  }
}

TEST(BenchCommandLine, a_mistyped_word_is_recognised) {
  for (const auto& [words, meant] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"pear", "a", "b"}, "did you mean pair?"},
           {{"pair", "a", "b", "--sise", "1"}, "did you mean --size?"},
           {{"pair", "a", "b", "-o", "jsn"}, "did you mean json?"},
           {{"client", "a:1", "--colour", "never"}, "did you mean --color?"}}) {
    const auto said = bench(words);
    EXPECT_EQ(said.code, 64) << words.front();
    EXPECT_THAT(said.err, HasSubstr(meant));
    EXPECT_THAT(said.out, IsEmpty());
  }
}

TEST(BenchCommandLine, says_its_version_by_flag_and_by_command) {
  EXPECT_THAT(bench({"--version"}).out, StartsWith("railhead-bench "));
  EXPECT_THAT(bench({"version"}).out, StartsWith("railhead-bench "));
  const auto json = data::Json::parse(bench({"version", "-o", "json"}).out, nullptr, false);
  EXPECT_EQ(json["kind"], "Version");
}

TEST(BenchCommandLine, has_man_pages_and_completion) {
  EXPECT_THAT(bench({"help", "pair", "--man"}).out, HasSubstr(".TH RAILHEAD-BENCH-PAIR 1"));
  EXPECT_THAT(bench({"completion", "bash"}).out, HasSubstr("-F _railhead_bench railhead-bench"));
}

}  // namespace
}  // namespace railhead::bench
