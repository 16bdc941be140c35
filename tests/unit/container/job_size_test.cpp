// SPDX-License-Identifier: Apache-2.0
#include "container/job_size.h"

#include <gtest/gtest.h>

namespace railhead::test {
namespace {

TEST(JobSize, nodes_and_ranks_are_counted_apart) {
  EXPECT_EQ(container::job_size({"NNODES=4"}), (container::JobSize{4, {}}));
  EXPECT_EQ(container::job_size({"WORLD_SIZE=16"}), (container::JobSize{{}, 16}));
  EXPECT_EQ(container::job_size({"SLURM_NTASKS=32", "SLURM_JOB_NUM_NODES=4"}),
            (container::JobSize{4, 32}));
  EXPECT_EQ(container::job_size({"PATH=/bin", "MY_NNODES=4", "NNODES_=4"}), container::JobSize());
}

TEST(JobSize, the_largest_variable_counts_and_of_one_its_last_value) {
  EXPECT_EQ(container::job_size({"LWS_GROUP_SIZE=1", "NNODES=3"}).nodes, 3U);
  EXPECT_EQ(container::job_size({"NNODES=8", "NNODES=2"}).nodes, 2U);
}

TEST(JobSize, what_is_no_count_says_nothing) {
  EXPECT_EQ(container::job_size({"NNODES=", "WORLD_SIZE=-1", "PMI_SIZE=many"}),
            container::JobSize());
  EXPECT_EQ(container::job_size({"NNODES=0", "WORLD_SIZE=0"}), container::JobSize());
}

TEST(JobSize, an_elastic_range_says_the_least_unless_it_may_be_one_node) {
  EXPECT_EQ(container::job_size({"PET_NNODES=2:4"}).nodes, 2U);
  EXPECT_EQ(container::job_size({"PET_NNODES=1:4"}).nodes, std::nullopt);
  EXPECT_EQ(container::job_size({"PET_NNODES=1:1"}).nodes, 1U);
  EXPECT_EQ(container::job_size({"PET_NNODES=2:x"}).nodes, std::nullopt);
}

TEST(JobSize, a_container_that_is_one_rank_counts_containers) {
  EXPECT_EQ(container::job_size({"WORLD_SIZE=4", "RANK=1"}), (container::JobSize{4, 4}));
  EXPECT_EQ(container::job_size({"WORLD_SIZE=8", "RANK=0", "PET_NNODES=1"}),
            (container::JobSize{1, 8}));
}

TEST(JobSize, the_pods_of_volcanos_tasks_are_added) {
  EXPECT_EQ(container::job_size({"VC_MASTER_NUM=1", "VC_WORKER_NUM=3"}).nodes, 4U);
  EXPECT_EQ(container::job_size({"VC__NUM=1", "VC_WORKER_HOSTS=a,b"}), container::JobSize());
}

TEST(JobSize, a_side_channel_of_nixl_asks_for_rdma) {
  const auto size =
      container::job_size({"VLLM_NIXL_SIDE_CHANNEL_HOST=10.0.0.1", "LWS_GROUP_SIZE=1"});
  EXPECT_EQ(size.asks, "VLLM_NIXL_SIDE_CHANNEL_HOST");
  EXPECT_EQ(size.nodes, 1U);
  EXPECT_EQ(container::job_size({"VLLM_NIXL_SIDE_CHANNEL_HOST="}).asks, "");
}

TEST(JobSize, of_two_the_larger_counts_number_by_number) {
  EXPECT_EQ(container::larger({4, 2, ""}, {2, 8, "x"}), (container::JobSize{4, 8, "x"}));
}

TEST(JobSize, all_gpus_are_asked_for_by_the_last_value_alone) {
  EXPECT_TRUE(container::asks_for_all_gpus({"NVIDIA_VISIBLE_DEVICES=all"}));
  EXPECT_TRUE(container::asks_for_all_gpus({"AMD_VISIBLE_DEVICES=all"}));
  EXPECT_FALSE(
      container::asks_for_all_gpus({"NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_VISIBLE_DEVICES=void"}));
  EXPECT_FALSE(container::asks_for_all_gpus({"NVIDIA_VISIBLE_DEVICES=GPU-1"}));
}

TEST(JobSize, only_variables_that_are_read_are_kept) {
  EXPECT_TRUE(container::is_job_variable("RANK=1"));
  EXPECT_TRUE(container::is_job_variable("PMI_SIZE=2"));
  EXPECT_TRUE(container::is_job_variable("VC_WORKER_NUM=2"));
  EXPECT_FALSE(container::is_job_variable("RANKING=1"));
  EXPECT_FALSE(container::is_job_variable("VC_WORKER_NUM" + std::string(100, 'x') + "=2"));
  EXPECT_FALSE(container::is_job_variable("RANK"));
}

}  // namespace
}  // namespace railhead::test
