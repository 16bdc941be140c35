// SPDX-License-Identifier: Apache-2.0
#include "container/job_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace railhead::test {
namespace {

using container::JobSize;

/// Words as /proc/PID/cmdline has them.
std::string command_line(std::string words) {
  std::replace(words.begin(), words.end(), ' ', '\0');
  return words + '\0';
}

JobSize size_of(const std::string& words) {
  return container::job_size_of_arguments(command_line(words));
}

TEST(JobArguments, launchers_say_their_nodes) {
  EXPECT_EQ(size_of("/usr/bin/python3 /bin/torchrun --nnodes=2 --nproc-per-node 8 train.py").nodes,
            2U);
  EXPECT_EQ(size_of("python -m torch.distributed.run --nnodes 4 train.py").nodes, 4U);
  EXPECT_EQ(size_of("torchrun --nnodes=1:4 train.py").nodes, std::nullopt);
  EXPECT_EQ(size_of("deepspeed --num_nodes 3 train.py").nodes, 3U);
  EXPECT_EQ(size_of("accelerate launch --num_machines=2 train.py").nodes, 2U);
  EXPECT_EQ(size_of("python -m sglang.launch_server --nnodes 2 --node-rank 1").nodes, 2U);
}

TEST(JobArguments, factors_of_parallelism_are_ranks) {
  EXPECT_EQ(size_of("python3 -m vllm.entrypoints.openai.api_server --tensor-parallel-size 4 "
                    "--pipeline-parallel-size 2")
                .ranks,
            8U);
  EXPECT_EQ(size_of("python3 /bin/vllm serve m -tp 2").ranks, 2U);
  EXPECT_EQ(size_of("python3 -m sglang.launch_server --tp 16").ranks, 16U);
  EXPECT_EQ(size_of("trtllm-serve m --tp_size 8 --pp_size 2").ranks, 16U);
  EXPECT_EQ(size_of("mpirun -np 16 ./all_reduce_perf").ranks, 16U);
}

TEST(JobArguments, replicas_are_ranks_where_experts_are_spread) {
  EXPECT_EQ(size_of("vllm serve m --data-parallel-size 16").ranks, std::nullopt);
  EXPECT_EQ(size_of("vllm serve m --data-parallel-size 16 --enable-expert-parallel").ranks, 16U);
  EXPECT_EQ(size_of("vllm serve m -tp 2 -dp 8 --enable-expert-parallel").ranks, 16U);
}

TEST(JobArguments, workers_of_disaggregated_serving_ask_for_rdma) {
  EXPECT_EQ(size_of("python3 -m dynamo.vllm --is-prefill-worker").asks, "--is-prefill-worker");
  EXPECT_EQ(size_of("python3 -m sglang.launch_server --disaggregation-mode decode").asks,
            "--disaggregation-mode");
  EXPECT_EQ(size_of("python3 -m sglang.launch_server --disaggregation-mode null").asks, "");
  const std::string nixl = R"({"kv_connector":"NixlConnector","kv_role":"kv_both"})";
  const std::string disk = R"({"kv_connector":"OffloadingConnector","kv_role":"kv_both"})";
  EXPECT_EQ(size_of("vllm serve m --kv-transfer-config " + nixl).asks, "--kv-transfer-config");
  EXPECT_EQ(size_of("vllm serve m --kv_transfer_config=" + nixl).asks, "--kv-transfer-config");
  EXPECT_EQ(size_of("vllm serve m --kv-transfer-config " + disk).asks, "");
  EXPECT_EQ(size_of("vllm serve m --kv-transfer-config.kv_connector MooncakeConnector").asks,
            "--kv-transfer-config.kv-connector");
}

TEST(JobArguments, a_ray_node_whose_head_is_elsewhere_is_one_of_two) {
  EXPECT_EQ(size_of("/ray/raylet --gcs-address=10.0.0.1:6379 --node_ip_address=10.0.0.2").nodes,
            2U);
  EXPECT_EQ(size_of("/ray/raylet --gcs-address=10.0.0.2:6379 --node_ip_address=10.0.0.2").nodes,
            std::nullopt);
}

TEST(JobArguments, a_shells_script_is_read_as_words) {
  std::string line = "sh";
  line += std::string("\0-c\0", 4) + "vllm serve m -tp 4 -pp 2";
  EXPECT_EQ(container::job_size_of_arguments(line).ranks, 8U);
}

TEST(JobArguments, what_looks_alike_says_nothing) {
  EXPECT_EQ(size_of("curl -np 3 --tp 4 -tp 4"), JobSize());
  EXPECT_EQ(size_of("torchrun --nnodes --nnodes=x --nnodes=0"), JobSize());
  EXPECT_EQ(container::job_size_of_arguments(""), JobSize());
  EXPECT_EQ(size_of("vllm -tp 99999999999 -pp 99999999999").ranks, 99999999999U);
}

TEST(JobArguments, what_is_kept_is_what_is_read_and_no_secret) {
  for (const std::string line :
       {"python3 /bin/vllm serve m --api-key hunter2 -tp 4 -pp 2 --kv-transfer-config "
        R"({"kv_connector":"NixlConnector","token":"hunter2"})",
        "python3 -m dynamo.vllm --is-prefill-worker hunter2",
        "vllm serve --enable-expert-parallel hunter2 -dp 16",
        "/ray/raylet --gcs-address=10.0.0.1:6379 --node_ip_address=10.0.0.2 --key=hunter2",
        "/ray/raylet --gcs-address=10.0.0.1:6379 --node-ip-address 10.0.0.1",
        "/ray/raylet --node-ip-address=10.0.0.1 --gcs-address=10.0.0.1"}) {
    const auto kept = container::shortened_arguments(command_line(line));
    EXPECT_EQ(kept.find("hunter2"), std::string::npos) << line;
    EXPECT_EQ(kept.find("10.0.0."), std::string::npos) << line;
    EXPECT_EQ(container::shortened_arguments(kept), kept) << line;
    EXPECT_EQ(container::job_size_of_arguments(kept), size_of(line)) << line;
  }
}

}  // namespace
}  // namespace railhead::test
