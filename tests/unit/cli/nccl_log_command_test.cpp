// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

const std::string kRdma =
    "NCCL version 2.27.6+cuda13.0\n"
    "a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
    "a:1:2 [0] NCCL INFO Using network IB\n"
    "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA\n";
const std::string kTcp =
    "[rank1]: b:1:2 [0] NCCL INFO NET/IB : No device found.\n"
    "[rank1]: b:1:2 [0] NCCL INFO Using network Socket\n"
    "[rank1]: b:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [receive] via NET/Socket/0\n";

Said judge_text(const std::string& text, const std::vector<std::string>& more = {}) {
  const TextFile file(text);
  std::vector<std::string> arguments = {"nccl-log", file.path()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

TEST(NcclLogCommand, rdma_is_success) {
  const auto said = judge_text(kRdma);
  EXPECT_EQ(said.code, cli::kExitOk) << said.err;
  EXPECT_THAT(said.out, HasSubstr("RDMA: 1 rank RDMA; GPUDirect RDMA: yes\n"));
  EXPECT_THAT(said.out, HasSubstr("rank 0 on a, line 3: Using network IB\n"));
}

TEST(NcclLogCommand, tcp_is_a_problem_with_its_evidence) {
  const auto said = judge_text(kTcp, {"-o", "json"});
  EXPECT_EQ(said.code, cli::kExitProblem) << said.err;
  const auto document = said.json();
  EXPECT_EQ(document["kind"], "NcclLog");
  EXPECT_EQ(document["verdict"], "TCP");
  EXPECT_EQ(document["summary"]["TCP"], 1);
  const auto& rank = document["ranks"][0];
  EXPECT_EQ(rank["rank"], 1);
  EXPECT_EQ(rank["verdict"], "TCP");
  EXPECT_EQ(rank["gpuDirect"], "unknown");
  EXPECT_EQ(rank["evidence"][0]["line"], 1);
  EXPECT_EQ(rank["evidence"][0]["text"], "NET/IB : No device found.");
}

TEST(NcclLogCommand, a_name_that_cannot_be_read_hides_no_verdict) {
  const TextFile tcp(kTcp, "-tcp");
  const auto said = run({"nccl-log", tcp.path(), testing::TempDir()});
  EXPECT_EQ(said.code, cli::kExitProblem) << said.err;
  EXPECT_THAT(said.out, HasSubstr("is a directory, and was not read"));
  const TextFile rdma(kRdma, "-rdma");
  EXPECT_EQ(run({"nccl-log", rdma.path(), testing::TempDir()}).code, cli::kExitCannotTell);
  EXPECT_EQ(run({"nccl-log", testing::TempDir()}).code, cli::kExitCannotTell);
}

TEST(NcclLogCommand, one_rank_on_tcp_is_a_problem) {
  EXPECT_EQ(judge_text(kRdma + kTcp).code, cli::kExitProblem);
}

TEST(NcclLogCommand, a_connection_that_broke_is_a_problem_of_a_job_on_rdma) {
  const auto said = judge_text(kRdma +
                               "a:1:2 [0] x.cc:1 NCCL WARN NET/IB: Got completion from peer "
                               "10.0.0.2<5> with status=12 opcode=0\n");
  EXPECT_EQ(said.code, cli::kExitProblem);
  EXPECT_THAT(said.out, HasSubstr("PROBLEMS\nerror: completion with status 12"));
}

TEST(NcclLogCommand, an_empty_list_of_devices_is_no_answer) {
  const auto said = judge_text(
      "a:1:2 [0] NCCL INFO NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>\n"
      "a:1:2 [0] NCCL INFO Using network IB\n");
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_THAT(said.out, testing::Not(HasSubstr("error:")));
}

TEST(NcclLogCommand, errors_stand_in_the_headline_and_first) {
  const auto said = judge_text(kRdma + "a:1:2 [0] x.cc:1 NCCL WARN Call to ibv_create_qp failed\n");
  EXPECT_EQ(said.code, cli::kExitProblem);
  EXPECT_THAT(said.out, testing::StartsWith("RDMA: 1 rank RDMA; GPUDirect RDMA: yes; error: a "
                                            "queue of the device could not be made"));
  EXPECT_LT(said.out.find("PROBLEMS"), said.out.find("VERDICT"));
}

TEST(NcclLogCommand, warnings_that_no_pattern_knows_are_kept) {
  const std::string front = "a:1:2 [0] misc/new.cc:1 NCCL WARN ";
  const auto said = judge_text(kRdma + front + "[New Service 9] Failed operation from rank 9\n" +
                                   front + "[New Service 3] Failed operation from rank 3\n" +
                                   front + "Net : Connection closed by remote peer\n",
                               {"-o", "json"});
  EXPECT_EQ(said.code, cli::kExitOk);
  const auto problems = said.json()["problems"];
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0]["text"], "[New Service 9] Failed operation from rank 9");
  EXPECT_EQ(problems[0]["count"], 2);
  EXPECT_EQ(problems[1]["text"], "Net : Connection closed by remote peer");
}

TEST(NcclLogCommand, a_choice_without_a_connection_says_so) {
  const auto said = judge_text(kRdma.substr(0, kRdma.find("a:1:2 [0] NCCL INFO Channel")));
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.out, testing::StartsWith("RDMA (chosen): 1 rank RDMA (chosen)\n"));
  EXPECT_THAT(said.out, HasSubstr("of mlx5_0"));
}

TEST(NcclLogCommand, one_node_is_success) {
  const auto said = judge_text(
      "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8\n"
      "a:1:2 [0] NCCL INFO Using network Socket\n");
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.out, testing::StartsWith("intra-node: 1 rank intra-node\n"));
}

TEST(NcclLogCommand, equal_ranks_are_one_row) {
  std::string text;
  for (const std::string rank : {"0", "1", "2", "4"}) {
    const auto front = "h" + rank + ":7:7 [" + rank + "] NCCL INFO ";
    text += front + "comm 0x1 rank " + rank + " nranks 5 - Init START\n";
    text += front + "Using network Socket\n";
  }
  EXPECT_THAT(judge_text(text).out, testing::ContainsRegex("0-2,4 +4 hosts +0-2,4 +TCP"));
  EXPECT_THAT(judge_text(text, {"-o", "wide"}).out, testing::ContainsRegex("4 +h4 +7 +4 +TCP"));
}

TEST(NcclLogCommand, several_files_are_one_job) {
  const TextFile first(kRdma);
  const TextFile second(kTcp, "-2");
  const auto said = run({"nccl-log", first.path(), second.path(), "-o", "json"});
  EXPECT_EQ(said.code, cli::kExitProblem);
  const auto document = said.json();
  EXPECT_EQ(document["verdict"], "mixed");
  EXPECT_EQ(document["files"].size(), 2U);
  const auto& quote = document["ranks"][1]["evidence"][0];
  EXPECT_EQ(quote["file"], second.path());
  EXPECT_EQ(quote["line"], 1);
  EXPECT_THAT(run({"nccl-log", first.path(), second.path()}).out,
              HasSubstr(second.path() + ", line 1: NET/IB : No device found."));
}

TEST(NcclLogCommand, a_file_that_is_no_text_leaves_no_answer) {
  const TextFile packed("\x1f\x8b\x08 and more");
  const TextFile plain(kRdma, "-2");
  EXPECT_EQ(run({"nccl-log", packed.path()}).code, cli::kExitCannotTell);
  const auto both = run({"nccl-log", plain.path(), packed.path()});
  EXPECT_EQ(both.code, cli::kExitCannotTell);
  EXPECT_THAT(both.out, HasSubstr("zcat"));
}

TEST(NcclLogCommand, the_limits_that_a_job_prints_are_no_problem) {
  EXPECT_EQ(judge_text("max locked memory           (kbytes, -l) 8192\n" + kRdma).code,
            cli::kExitOk);
}

TEST(NcclLogCommand, a_log_that_does_not_say_is_no_answer) {
  const auto said = judge_text("step 1 loss 0.5\n");
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_THAT(said.out, HasSubstr("NCCL_DEBUG=INFO"));
}

TEST(NcclLogCommand, a_file_that_is_not_there_is_named) {
  const auto said = run({"nccl-log", "/no/such.log"});
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_THAT(said.err, HasSubstr("/no/such.log"));
  EXPECT_EQ(said.out, "");
}

TEST(NcclLogCommand, wide_shows_the_evidence_of_every_rank) {
  const std::string second =
      "c:1:2 [1] NCCL INFO Channel 00/0 : 2[0] -> 1[0] [send] via NET/IB/0/GDRDMA\n";
  EXPECT_THAT(judge_text(kRdma + second).out, testing::Not(HasSubstr("rank 2 on c, line")));
  EXPECT_THAT(judge_text(kRdma + second, {"-o", "wide"}).out, HasSubstr("rank 2 on c, line 5"));
}

}  // namespace
}  // namespace railhead::test
