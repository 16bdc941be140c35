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

TEST(NcclLogCommand, an_empty_list_of_devices_is_a_problem) {
  const auto said = judge_text(
      "a:1:2 [0] NCCL INFO NET/IB : Using ; OOB eth0:10.0.0.1<0>\n"
      "a:1:2 [0] NCCL INFO Using network IB\n");
  EXPECT_EQ(said.code, cli::kExitProblem);
  EXPECT_THAT(said.out, HasSubstr("error: the list of RDMA devices is empty"));
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
