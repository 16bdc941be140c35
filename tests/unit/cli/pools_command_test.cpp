// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string example(const std::string& name) {
  return source_dir() + "/examples/" + name;
}

TEST(PoolsCommand, an_empty_default_pool_is_no_problem_of_the_node) {
  const auto said = run_on("gpus-only", "pools");
  EXPECT_EQ(said.code, cli::kExitOk) << said.err;
  EXPECT_THAT(said.out, HasSubstr("rdma.io/hca: "));
}

TEST(PoolsCommand, each_example_fits_its_machine) {
  const auto with = [](const std::string& machine, const std::string& file) {
    return run_on(machine, "pools", {"--config", example(file)});
  };
  for (const auto& said :
       {with("dgx-h100", "pools.yaml"), with("dgx-h100", "k8s-rdma-shared-dev-plugin.json"),
        with("vfs-on-one-socket", "sriov-network-device-plugin.json"),
        with("seed-8gpu-4nic", "k8s-rdma-device-plugin.yaml")}) {
    EXPECT_EQ(said.code, cli::kExitOk) << said.out << said.err;
    EXPECT_THAT(said.out, Not(HasSubstr("WARNINGS")));
  }
}

TEST(PoolsCommand, several_files_are_read_together) {
  const auto said = run_on("vfs-on-one-socket", "pools",
                           {"--config", example("k8s-rdma-device-plugin.yaml"), "--config",
                            example("sriov-network-device-plugin.json"), "-o", "json"});
  ASSERT_EQ(said.code, cli::kExitOk) << said.err;
  std::vector<std::string> names;
  const auto document = said.json();
  for (const auto& pool : document["pools"]) names.push_back(pool["name"]);
  EXPECT_THAT(names, ElementsAre("nvidia.com/front_a", "nvidia.com/front_b", "rdma.io/hca"));
}

TEST(PoolsCommand, a_pool_that_selects_nothing_here_is_no_problem_and_says_why) {
  const auto said =
      run_on("seed-8gpu-4nic", "pools", {"--config", example("sriov-network-device-plugin.json")});
  EXPECT_EQ(said.code, cli::kExitOk);
  EXPECT_THAT(said.out, HasSubstr("nvidia.com/front_a: pfNames: it is neither a VF nor an SF"));
}

TEST(PoolsCommand, a_resource_that_is_left_out_is_a_problem) {
  const TextFile file(R"({"configList": [{"resourceName": "a-b", "rdmaHcaMax": 1}]})");
  for (const char* command : {"pools", "config"}) {
    const auto said = run_on("dgx-h100", command, {"--config", file.path()});
    EXPECT_EQ(said.code, cli::kExitProblem) << command;
    EXPECT_THAT(said.out, HasSubstr("LEFT OUT\n" + file.path() + ":1:34: ")) << command;
  }
}

TEST(PoolsCommand, wide_names_for_every_function_what_keeps_it_out) {
  const auto said = run_on("dgx-h100", "pools", {"-o", "wide"});
  EXPECT_THAT(said.out, HasSubstr("NOT IN A POOL"));
  EXPECT_THAT(said.out, HasSubstr("roles: storage is not compute"));
  EXPECT_THAT(run_on("dgx-h100", "pools").out, Not(HasSubstr("NOT IN A POOL")));
}

TEST(PoolsCommand, two_exclusive_pools_that_want_one_function_are_a_problem) {
  const TextFile file(
      "pools:\n"
      "  - {name: a.io/a, mode: exclusive, include: {names: mlx5_0}}\n"
      "  - {name: a.io/b, mode: exclusive, include: {names: 'mlx5_*'}}\n");
  const auto said = run_on("seed-8gpu-4nic", "pools", {"--config", file.path()});
  EXPECT_EQ(said.code, cli::kExitProblem);
  EXPECT_THAT(said.out, HasSubstr("is wanted by the exclusive pools a.io/a"));
}

TEST(PoolsCommand, wrong_pools_are_a_usage_error_of_every_command) {
  const TextFile file("pools:\n  - {name: hca}\n");
  for (const char* command : {"pools", "nics", "topology", "affinity"}) {
    const auto said = run_on("dgx-h100", command, {"--config", file.path()});
    EXPECT_EQ(said.code, cli::kExitUsage) << command;
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, HasSubstr(file.path() + ":2:12"));
  }
}

TEST(PoolsCommand, every_role_that_a_nic_may_have_may_be_selected) {
  for (const char* role : {"compute", "storage", "management", "front-end", "nvlink-management",
                           "virtual-function", "unknown"}) {
    const TextFile file(std::string("pools: [{name: a.io/a, include: {roles: ") + role + "}}]\n");
    EXPECT_NE(run_on("dgx-h100", "pools", {"--config", file.path()}).code, cli::kExitUsage) << role;
  }
}

TEST(AffinityCommand, a_nic_of_an_exclusive_pool_is_never_dealt) {
  const TextFile file("pools: [{name: a.io/a, mode: exclusive, include: {names: mlx5_0}}]\n");
  const auto said = run_on("dgx-h100", "affinity", {"--config", file.path(), "--gpus", "0"});
  EXPECT_THAT(said.out, HasSubstr("is in the exclusive pool a.io/a"));
  EXPECT_THAT(said.out, Not(HasSubstr("NCCL_IB_HCA==mlx5_0")));
}

}  // namespace
}  // namespace railhead::test
