// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/cli/program.h"
#include "unit/cli/text_file.h"

namespace railhead::test {
namespace {

using testing::HasSubstr;

Said affinity(const std::string& machine, const std::string& gpus) {
  return run_on(machine, "affinity", {"--gpus", gpus, "-o", "json"});
}

TEST(AffinityCommand, some_of_the_gpus_get_their_nics_and_no_others) {
  EXPECT_EQ(affinity("seed-8gpu-4nic", "0,1").json()["nics"], data::Json({"mlx5_0"}));
  const auto said = affinity("seed-8gpu-4nic", "4,5");
  EXPECT_EQ(said.code, cli::kExitOk);
  const auto document = said.json();
  EXPECT_EQ(document["nics"], data::Json({"mlx5_2"}));
  EXPECT_EQ(document["devices"],
            data::Json({"/dev/infiniband/uverbs2", "/dev/infiniband/rdma_cm"}));
  EXPECT_EQ(document["env"]["NCCL_IB_HCA"], "=mlx5_2:1");
}

TEST(AffinityCommand, says_how_much_memory_may_be_locked) {
  EXPECT_EQ(affinity("dgx-h100", "0").json()["memlock"], "unlimited");
  EXPECT_THAT(run_on("dgx-h100", "affinity").out, HasSubstr("\nmemlock unlimited\n"));
  EXPECT_EQ(affinity("gpus-only", "0").json()["memlock"], nullptr);
  const TextFile config("injection: {memlockCap: 1Gi}\n");
  const auto capped = run_on("dgx-h100", "affinity", {"--config", config.path(), "-o", "json"});
  EXPECT_EQ(capped.json()["memlock"], "1073741824");
}

TEST(AffinityCommand, says_what_a_pod_with_a_network_of_its_own_gets) {
  const auto roce = affinity("xe9680-roce", "0").json();
  EXPECT_EQ(roce["nics"].size(), 1U);
  EXPECT_TRUE(roce["ownNetwork"]["nics"].empty());
  EXPECT_EQ(roce["ownNetwork"]["reason"], "roce-own-network");
  EXPECT_THAT(run_on("xe9680-roce", "affinity").out,
              HasSubstr("\nwith a network of its own: no NIC (roce-own-network)\n"));
  const auto infiniband = affinity("dgx-h100", "0").json();
  EXPECT_EQ(infiniband["ownNetwork"]["nics"], infiniband["nics"]);
  EXPECT_THAT(run_on("dgx-h100", "affinity").out,
              testing::Not(HasSubstr("with a network of its own")));
}

TEST(AffinityCommand, a_gpu_is_named_by_index_uuid_or_address_and_counts_once) {
  const auto by_index = affinity("dgx-h100", "1");
  ASSERT_EQ(by_index.code, cli::kExitOk) << by_index.err;
  const auto gpu = by_index.json()["gpus"][0];
  const auto uuid = gpu["uuid"].get<std::string>();
  const auto pci = gpu["pci"].get<std::string>();
  EXPECT_EQ(affinity("dgx-h100", uuid).out, by_index.out);
  EXPECT_EQ(affinity("dgx-h100", pci).out, by_index.out);
  EXPECT_EQ(affinity("dgx-h100", "1, " + uuid + "," + pci).out, by_index.out);
}

TEST(AffinityCommand, a_gpu_that_is_not_there_is_a_usage_error) {
  for (const char* gpu :
       {"8", "GPU-nobody", "0000:ff:1f.0", "0,,1", "-1", "99999999999999999999"}) {
    const auto said = run_on("dgx-h100", "affinity", {"--gpus=" + std::string(gpu)});
    EXPECT_EQ(said.code, cli::kExitUsage) << gpu;
    EXPECT_EQ(said.out, "");
    EXPECT_THAT(said.err, HasSubstr("--gpus"));
  }
}

TEST(AffinityCommand, explains_a_gpu_without_nics_by_an_empty_list) {
  const auto document = run_on("gpus-only", "affinity", {"--explain", "-o", "json"}).json();
  ASSERT_EQ(document["explanation"].size(), 4U);
  for (const auto& gpu : document["explanation"]) {
    EXPECT_EQ(gpu.value("nics", data::Json()), data::Json::array());
  }
}

}  // namespace
}  // namespace railhead::test
