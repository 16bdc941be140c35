// SPDX-License-Identifier: Apache-2.0
//
// What says that a container is part of a job on several nodes: one table, a row for each sign.
// Invariants:
//   * `nodes` and `ranks` are counts of the job; `rank_factors` are multiplied to one of ranks;
//   * `asks` is a sign that the container hands data to peers by RDMA where it can, whatever the
//     counts: the workers of disaggregated serving;
//   * a sign counts only where all of its columns do: `program` stands in what is run, the value is
//     one of `values`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace railhead::container {

enum class Says : std::uint8_t {
  nodes,
  nodes_summed,  ///< a number of pods for each task; all tasks together
  ranks,
  rank_factor,
  expert_factor,   ///< a factor, too, where experts are spread over the replicas
  experts,         ///< says that they are
  container_rank,  ///< beside WORLD_SIZE the whole container is one rank
  asks,
  gcs_address,   ///< a Ray node: where the head's control store is…
  node_address,  ///< …and its own address; two nodes where they differ
};

struct JobSign {
  Says says;
  /// A variable (`*` stands for any text), or an argument, written with hyphens: `--tp_size` is
  /// `--tp-size`.
  std::string_view name;
  std::string_view program{};  ///< of an argument: part of one of the first three arguments
  std::string_view values{};   ///< the value holds one of these (`|` between them); "": any
  std::string_view source{};
};

/// Variables of the container's environment.
inline constexpr std::array kJobVariables = {
    JobSign{.says = Says::nodes, .name = "NNODES", .source = "launch scripts of NeMo, Megatron-LM"},
    JobSign{.says = Says::nodes,
            .name = "PET_NNODES",
            .source = "PyTorch, torch/distributed/run.py: PET_ and the name of an argument"},
    JobSign{.says = Says::nodes, .name = "SLURM_NNODES", .source = "sbatch(1), output variables"},
    JobSign{.says = Says::nodes, .name = "SLURM_JOB_NUM_NODES", .source = "sbatch(1)"},
    JobSign{.says = Says::nodes,
            .name = "LWS_GROUP_SIZE",
            .source = "LeaderWorkerSet, reference of labels, annotations and variables"},
    JobSign{.says = Says::nodes_summed,
            .name = "VC_*_NUM",
            .source = "Volcano, pkg/controllers/job/plugins/distributed-framework and svc"},
    JobSign{.says = Says::ranks, .name = "WORLD_SIZE", .source = "PyTorch, torch.distributed"},
    JobSign{.says = Says::ranks, .name = "OMPI_COMM_WORLD_SIZE", .source = "Open MPI, mpirun(1)"},
    JobSign{
        .says = Says::ranks, .name = "PMI_SIZE", .source = "MPICH and Intel MPI, Hydra's PMI-1"},
    JobSign{.says = Says::ranks, .name = "MV2_COMM_WORLD_SIZE", .source = "MVAPICH2 user guide"},
    JobSign{.says = Says::ranks, .name = "SLURM_NTASKS", .source = "sbatch(1)"},
    JobSign{.says = Says::ranks, .name = "HOROVOD_SIZE", .source = "Horovod, runner/gloo_run.py"},
    JobSign{.says = Says::container_rank,
            .name = "RANK",
            .source = "Kubeflow training operator v1, before nproc_per_node"},
    JobSign{
        .says = Says::asks, .name = "VLLM_NIXL_SIDE_CHANNEL_HOST", .source = "vLLM, vllm/envs.py"},
    JobSign{
        .says = Says::asks, .name = "VLLM_NIXL_SIDE_CHANNEL_PORT", .source = "vLLM, vllm/envs.py"},
    JobSign{
        .says = Says::asks, .name = "VLLM_MOONCAKE_BOOTSTRAP_PORT", .source = "vLLM, vllm/envs.py"},
};

/// Arguments of its processes (/proc/PID/cmdline).
inline constexpr std::array kJobArguments = {
    JobSign{.says = Says::nodes,
            .name = "--nnodes",
            .source = "torchrun, vLLM (vllm/engine/arg_utils.py), SGLang (server_args.py)"},
    JobSign{.says = Says::nodes,
            .name = "--num-nodes",
            .source = "DeepSpeed, deepspeed/launcher/runner.py"},
    JobSign{
        .says = Says::nodes, .name = "--num-machines", .source = "Accelerate, commands/launch.py"},
    JobSign{.says = Says::ranks,
            .name = "-np",
            .program = "mpirun|mpiexec|prterun|horovodrun",
            .source = "mpirun(1)"},
    JobSign{.says = Says::ranks,
            .name = "-n",
            .program = "mpirun|mpiexec|prterun",
            .source = "mpirun(1)"},
    JobSign{.says = Says::rank_factor, .name = "--tensor-parallel-size", .source = "vLLM, SGLang"},
    JobSign{.says = Says::rank_factor, .name = "-tp", .program = "vllm", .source = "vLLM"},
    JobSign{.says = Says::rank_factor, .name = "--tp-size", .source = "SGLang, TensorRT-LLM"},
    JobSign{.says = Says::rank_factor, .name = "--tp", .program = "sglang", .source = "SGLang"},
    JobSign{
        .says = Says::rank_factor, .name = "--pipeline-parallel-size", .source = "vLLM, SGLang"},
    JobSign{.says = Says::rank_factor, .name = "-pp", .program = "vllm", .source = "vLLM"},
    JobSign{.says = Says::rank_factor, .name = "--pp-size", .source = "SGLang, TensorRT-LLM"},
    JobSign{.says = Says::expert_factor,
            .name = "--data-parallel-size",
            .program = "vllm",
            .source = "vLLM: replicas of a dense model exchange nothing of weight"},
    JobSign{.says = Says::expert_factor, .name = "-dp", .program = "vllm", .source = "vLLM"},
    JobSign{.says = Says::experts, .name = "--enable-expert-parallel", .source = "vLLM"},
    JobSign{.says = Says::asks,
            .name = "--kv-transfer-config",
            .values = "nixl|mooncake|p2pnccl|pynccl",
            .source = "vLLM, distributed/kv_transfer/kv_connector/factory.py; the other connectors "
                      "move nothing between nodes by themselves"},
    JobSign{.says = Says::asks,
            .name = "--kv-transfer-config.kv-connector",
            .values = "nixl|mooncake|p2pnccl|pynccl",
            .source = "vLLM"},
    JobSign{.says = Says::asks,
            .name = "--disaggregation-mode",
            .values = "prefill|decode",
            .source = "SGLang (server_args.py), Dynamo"},
    JobSign{.says = Says::asks, .name = "--disaggregation-ib-device", .source = "SGLang"},
    JobSign{.says = Says::asks, .name = "--is-prefill-worker", .source = "Dynamo, dynamo.vllm"},
    JobSign{.says = Says::asks, .name = "--is-decode-worker", .source = "Dynamo, dynamo.vllm"},
    JobSign{.says = Says::gcs_address,
            .name = "--gcs-address",
            .program = "raylet",
            .source = "Ray, src/ray/raylet/main.cc"},
    JobSign{.says = Says::node_address,
            .name = "--node-ip-address",
            .program = "raylet",
            .source = "Ray, src/ray/raylet/main.cc"},
};

}  // namespace railhead::container
