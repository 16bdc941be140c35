// SPDX-License-Identifier: Apache-2.0
#include "bench/command_line.h"

#include <gmock/gmock.h>

#include <sstream>

#include "bench/listener.h"
#include "data/json.h"
#include "unit/manual_clock.h"
#include "unit/node/hosts.h"
#include "unit/source_dir.h"

namespace railhead::bench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Said {
  int code = -1;
  std::string out;
  std::string err;
};

Said bench(std::vector<std::string> words, const std::string& machine = "dgx-h100") {
  words.insert(words.begin(), "railhead-bench");
  const auto host = snapshot::SnapshotHost::parse(test::machine_text(machine));
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

TEST(BenchCommandLine, a_number_that_is_none_is_named_with_its_option) {
  EXPECT_THAT(bench({"pair", "a", "b", "--iterations", "x"}).err,
              HasSubstr("railhead-bench pair: --iterations takes NUMBER, not \"x\"\n"));
  EXPECT_THAT(bench({"pair", "a", "b", "--require", "3"}).err,
              HasSubstr("--require: 3 is no number from 0 to 1"));
  EXPECT_THAT(bench({"pair", "a", "b,c"}).err, HasSubstr("FROM has 1 NIC, and TO has 2"));
}

TEST(BenchCommandLine, a_server_without_a_nic_says_so_and_does_not_listen) {
  const auto server = [](const std::string& machine, std::vector<std::string> more) {
    more.insert(more.begin(), {"server", "--bind-address", "127.0.0.1:0"});
    return bench(more, machine);
  };
  for (const auto& [said, why] :
       {std::pair(server("gpus-only", {}), "this machine has no RDMA device"),
        std::pair(server("dgx-h100", {"--nics", "mlx5_77"}), "mlx5_77: no such RDMA device")}) {
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, StartsWith("railhead bench: no-device: " + std::string(why)));
    EXPECT_THAT(said.err, Not(HasSubstr("listening")));
  }
}

TEST(BenchCommandLine, a_server_that_cannot_listen_names_the_address) {
  test::ManualClock clock;
  const auto taken =
      Listener::bind(HostPort::parse("127.0.0.1:0").value(), "0123456789abcdef", clock, -1);
  ASSERT_TRUE(taken);
  for (const auto& [address, why] :
       {std::pair<std::string, const char*>(taken->address(), "in use"),
        std::pair<std::string, const char*>("192.0.2.1:7174", "assign")}) {  // RFC 5737: nobody's
    const auto said = bench({"server", "--bind-address", address});
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, StartsWith("railhead bench: no-address: "));
    EXPECT_THAT(said.err, HasSubstr(address));
    EXPECT_THAT(said.err, HasSubstr(why));
    EXPECT_THAT(said.err, Not(HasSubstr("listening")));
    EXPECT_THAT(said.out, IsEmpty());
  }
}

TEST(BenchCommandLine, a_proof_that_cannot_be_written_is_said_at_once) {
  for (const auto& words :
       {std::vector<std::string>{"pair", "mlx5_0", "mlx5_3"},
        std::vector<std::string>{"client", "127.0.0.1:1", "--key-file",
                                 test::source_dir() + "/tests/unit/source_dir.h"}}) {
    auto all = words;
    all.insert(all.end(), {"--proof", "/nowhere/proof.json"});
    const auto said = bench(all);
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, StartsWith("railhead bench: not-written: --proof /nowhere/proof.json"));
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
