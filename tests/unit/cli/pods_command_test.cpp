// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Said pods(const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"pods", "--snapshot",
                                        source_dir() + "/tests/pods/two-pods.node"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

TEST(PodsCommand, says_who_uses_rdma_and_who_fell_back) {
  const auto said = pods({"-o", "json"});
  EXPECT_EQ(said.code, cli::kExitProblem) << said.err;
  const auto document = said.json();
  EXPECT_EQ(document["kind"], "Pods");
  ASSERT_EQ(document["pods"].size(), 2U);
  const auto& job = document["pods"][0];
  EXPECT_EQ(job["namespace"], "train");
  EXPECT_EQ(job["pod"], "a-0");
  EXPECT_EQ(job["container"], "main");
  EXPECT_EQ(job["gpus"].size(), 2U);
  EXPECT_EQ(job["nics"], data::Json::array({"mlx5_0", "mlx5_1"}));
  EXPECT_EQ(job["queuePairs"], 7);
  EXPECT_EQ(job["queuePairsReady"], 6);
  EXPECT_EQ(job["queuePairsConnected"], 3);
  EXPECT_EQ(job["queuePairsUnproved"], 1);
  EXPECT_EQ(job["registeredBytes"], 1073745920);
  EXPECT_EQ(job["verdict"], "RDMA");
  EXPECT_EQ(job["evidence"][1]["source"], "netlink res qp");
  EXPECT_EQ(job["evidence"][1]["value"], "pid 1001 lqpn 17 rqpn 117 RC RTS mlx5_0/1");
  const auto& fallen = document["pods"][1];
  EXPECT_EQ(fallen["pod"], "a-1");
  EXPECT_EQ(fallen["verdict"], "TCP");
  EXPECT_EQ(fallen["silentFallback"], true);
  EXPECT_EQ(document["warnings"], data::Json::array());
}

TEST(PodsCommand, a_table_for_people) {
  const auto said = pods();
  EXPECT_THAT(said.out, HasSubstr("train       a-0   main        0,1    mlx5_0,mlx5_1   6"));
  EXPECT_THAT(said.out, HasSubstr("TCP (fallback)"));
  EXPECT_THAT(said.out, Not(HasSubstr("EVIDENCE")));
  EXPECT_THAT(pods({"--explain"}).out, HasSubstr("EVIDENCE"));
}

TEST(PodsCommand, of_one_namespace_say_nothing_of_others) {
  const auto said = pods({"-n", "prod"});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_EQ(said.out, "no container of namespace prod holds a GPU, an RDMA NIC or RDMA objects\n");
}

TEST(PodsCommand, what_a_job_says_of_its_size_decides_who_has_peers) {
  const std::vector<std::string> peers = {"pods", "--snapshot",
                                          source_dir() + "/tests/pods/peers.node", "-o", "json"};
  const auto said = run(peers);
  EXPECT_EQ(said.code, cli::kExitProblem) << said.err;
  std::vector<std::string> verdicts;
  const auto document = said.json();
  for (const auto& pod : document["pods"]) {
    verdicts.push_back(pod["pod"].get<std::string>() + " " + pod["verdict"].get<std::string>() +
                       (pod["silentFallback"] == true ? " (fallback)" : ""));
  }
  EXPECT_THAT(verdicts,
              testing::ElementsAre("dcgm-exporter-x TCP", "vllm-0 TCP", "efa-0 unknown",
                                   "hung-0 idle (fallback)", "torchrun-0 TCP (fallback)"));
  auto ignoring = peers;
  ignoring.insert(ignoring.end(), {"--pods-ignore", "train/hung-*,train/torchrun-*"});
  EXPECT_EQ(run(ignoring).code, cli::kExitCannotTell);
  EXPECT_EQ(run(ignoring).json()["pods"][3]["ignored"], true);
}

TEST(PodsCommand, a_variable_that_keeps_a_container_off_rdma_is_named) {
  const auto peers = source_dir() + "/tests/pods/peers.node";
  const auto job = run({"pods", "--snapshot", peers, "-o", "json"}).json()["pods"][4];
  EXPECT_EQ(job["nics"], data::Json::array({"mlx5_3"}));
  EXPECT_THAT(
      job["why"].get<std::string>(),
      HasSubstr("1 TCP connection to elsewhere; NCCL_IB_HCA=\"mlx5_0\" names no usable port "
                "of the container's NICs (mlx5_3:1), and NCCL takes TCP"));
}

TEST(PodsCommand, two_earlier_snapshots_prove_what_one_does_not) {
  const auto usage = source_dir() + "/tests/pods/usages/ucx-devx-moves";
  const auto pods_after = [&](const std::vector<std::string>& before) {
    std::vector<std::string> arguments = {"pods", "--snapshot", usage + ".node"};
    for (const auto& moment : before) {
      arguments.emplace_back("--before");
      arguments.push_back(usage + moment);
    }
    return run(arguments);
  };
  EXPECT_EQ(pods_after({".before.node"}).code, cli::kExitCannotTell);
  EXPECT_EQ(pods_after({".first.node", ".before.node"}).code, cli::kExitOk);
  EXPECT_THAT(pods_after({".first.node", ".not-there.node"}).err, HasSubstr(".not-there.node"));
}

TEST(PodsCommand, a_log_is_evidence_of_its_pod) {
  const TextFile log(
      "node-a:7:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
      "node-a:7:9 [0] NCCL INFO Using network IB\n");
  const auto said = pods({"-o", "json", "--log", "train/a-1=" + log.path()});
  EXPECT_EQ(said.code, cli::kExitCannotTell) << said.err;
  EXPECT_EQ(said.json()["pods"][1]["rung"], "log");
  EXPECT_EQ(said.json()["pods"][1]["verdict"], "unknown");
  // A part of it that cannot be read takes nothing away from what it says.
  const TextFile torn(
      "a:1:1 [0] NCCL INFO Using network IB\na:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> "
      "0[0] [send] via NET/\nb:2:2 [0] NCCL INFO Using network IB\n");
  EXPECT_EQ(pods({"-o", "json", "--log", "train/a-1=" + torn.path()}).json()["pods"][1]["rung"],
            "log");
  EXPECT_EQ(pods({"--log", "nonsense"}).code, cli::kExitUsage);
  EXPECT_EQ(run({"pods", "--before", log.path()}).code, cli::kExitUsage);
}

TEST(PodsCommand, memory_that_is_registered_as_a_whole_has_no_size) {
  const auto peers = source_dir() + "/tests/pods/peers.node";
  EXPECT_THAT(run({"pods", "--snapshot", peers}).out, HasSubstr("all (ODP)"));
  EXPECT_THAT(run({"pods", "--snapshot", peers, "--explain"}).out,
              HasSubstr("2 memory regions, 4096 bytes and 1 of the whole address space"));
  const auto job = run({"pods", "--snapshot", peers, "-o", "json"}).json()["pods"][2];
  EXPECT_EQ(job["registeredBytes"], 4096);
  EXPECT_EQ(job["implicitRegions"], 1);
}

TEST(PodsCommand, grace_and_all_are_the_callers) {
  EXPECT_EQ(pods({"--pods-grace", "5000"}).code, cli::kExitOk);
  EXPECT_EQ(pods({"--all", "-o", "json"}).json()["pods"].size(), 3U);
}

TEST(PodsCommand, a_machine_whose_kernel_cannot_be_asked_proves_nothing) {
  const auto said = run_on("dgx-h100", "pods", {"-o", "json"});
  EXPECT_EQ(said.code, cli::kExitCannotTell);
  EXPECT_FALSE(said.json()["warnings"].empty());
}

TEST(PodsCommand, a_snapshot_with_pods_gives_the_same_answer_without_secrets) {
  const auto recorded = run_in_pipe(
      {"snapshot", "--pods", "--raw", "--snapshot", source_dir() + "/tests/pods/two-pods.node"});
  ASSERT_EQ(recorded.code, cli::kExitOk) << recorded.err;
  EXPECT_THAT(recorded.out, Not(HasSubstr("hunter2")));
  const TextFile file(recorded.out);
  EXPECT_EQ(run({"pods", "--snapshot", file.path(), "-o", "json"}).out, pods({"-o", "json"}).out);
}

TEST(PodsCommand, of_open_files_a_snapshot_keeps_those_that_tell_of_use) {
  std::ostringstream text;
  text << std::ifstream(source_dir() + "/tests/pods/usages/psm2.node").rdbuf();
  const TextFile machine(text.str() + "l /proc/2010/fd/99 -> /data/patient-17.csv\n");
  const auto recorded = run_in_pipe({"snapshot", "--pods", "--raw", "--snapshot", machine.path()});
  ASSERT_EQ(recorded.code, cli::kExitOk) << recorded.err;
  EXPECT_THAT(recorded.out, Not(HasSubstr("patient")));
  EXPECT_THAT(recorded.out, HasSubstr("-> /dev/hfi1_0"));
}

TEST(PodsCommand, a_redacted_snapshot_keeps_the_verdicts) {
  const auto recorded =
      run_in_pipe({"snapshot", "--pods", "--snapshot", source_dir() + "/tests/pods/two-pods.node"});
  EXPECT_THAT(recorded.out, Not(HasSubstr("0200000A")));
  const TextFile file(recorded.out);
  const auto document = run({"pods", "--snapshot", file.path(), "-o", "json"}).json();
  EXPECT_EQ(document["pods"][0]["verdict"], "RDMA");
  EXPECT_EQ(document["pods"][1]["verdict"], "TCP");
}

}  // namespace
}  // namespace railhead::test
