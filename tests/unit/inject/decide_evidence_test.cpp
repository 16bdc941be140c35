// SPDX-License-Identifier: Apache-2.0
// What counts as holding a GPU or a NIC, against what only says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"
#include "unit/inject/pool_specs.h"

namespace railhead::inject {
namespace {

using test::codes;
using test::ContainerBuilder;
using test::paths;
using test::seed_node;
using test::table_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHcaAllocation = "allocation.railhead.io/rdma.io/hca";

pools::PoolSpec pool(pools::PoolMode mode, std::vector<std::string> nics) {
  auto spec = test::shared_pool("rdma.io/hca", std::move(nics));
  spec.mode = mode;
  return spec;
}

DecisionTable table_with(pools::PoolSpec spec, node::Node node = seed_node()) {
  InjectionPolicy policy;
  policy.pools = {std::move(spec)};
  return table_of(std::move(node), std::move(policy));
}

TEST(Evidence, the_environment_never_widens_what_device_nodes_show) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).env("NVIDIA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(0));
  EXPECT_THAT(codes(decision.remarks), ElementsAre("gpu-env-differs"));
}

TEST(Evidence, required_reaches_gpus_whose_device_nodes_are_unknown) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(77).pod_annotation("rdma.railhead.io/pod", "required");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_THAT(decision.message, HasSubstr("/dev/nvidia77"));
}

TEST(Evidence, required_reaches_gpus_that_the_kubelet_has_not_resolved) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0").pod_annotation("rdma.railhead.io/pod", "required");
  for (const auto& word : {test::unanswered(), test::holds({{"nvidia.com/gpu", {"GPU-beef"}}}),
                           test::holds({{"nvidia.com/mig-1g.5gb", {"MIG-a", "MIG-b"}}})}) {
    ContainerBuilder one;
    one.env("NVIDIA_VISIBLE_DEVICES=MIG-a,MIG-b");
    one.pod_annotation("rdma.railhead.io/pod", "required");
    const auto decision = test::decide(one, table, test::able(), word);
    EXPECT_EQ(decision.outcome, Outcome::refused);
    EXPECT_EQ(decision.reason_code, "gpu-unresolved");
  }
  const auto denied = test::decide(container, table, test::able(), test::holds({}));
  EXPECT_EQ(denied.outcome, Outcome::untouched) << "a sidecar without GPUs";
}

TEST(Evidence, a_sidecar_of_a_gpu_pod_gets_nothing_by_its_environment) {
  const auto table = table_of(seed_node());
  ContainerBuilder sidecar;
  sidecar.env("NVIDIA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7");
  const container::PodHoldings pod{
      "default",
      "pod",
      {{"worker", {{"nvidia.com/gpu", {*table.node().gpus[0].uuid}}}}, {"main", {}}}};
  const auto word = kubelet_answer_for("main", pod, table);
  EXPECT_TRUE(word.others_hold_gpus);
  const auto decision = test::decide(sidecar, table, test::able(), word);
  EXPECT_EQ(decision.outcome, Outcome::untouched);
  EXPECT_THAT(codes(decision.remarks), ElementsAre("gpu-claim-denied"));
}

TEST(Evidence, only_where_nobody_is_there_is_there_no_kubelet) {
  const auto table = table_of(seed_node());
  const auto state = [&](ErrorCode code) {
    return kubelet_answer_for("main", Error{code, "because"}, table).state;
  };
  EXPECT_EQ(state(ErrorCode::unavailable), KubeletAnswer::State::no_kubelet);
  EXPECT_EQ(state(ErrorCode::timeout), KubeletAnswer::State::unanswered);
  EXPECT_EQ(state(ErrorCode::too_large), KubeletAnswer::State::unanswered);
  EXPECT_EQ(kubelet_answer_for("init", container::PodHoldings{}, table).state,
            KubeletAnswer::State::answered);
}

TEST(Evidence, an_allocated_nic_comes_also_beside_a_foreign_uverbs) {
  const auto table = table_with(pool(pools::PoolMode::exclusive, {"mlx5_0"}));
  ContainerBuilder container;
  container.annotation(kHcaAllocation, table.node().nics[0].pci->str());
  container.device("/dev/infiniband/uverbs3", 231, 195);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::adjusted);
  EXPECT_THAT(paths(decision.adjustment), Contains("/dev/infiniband/uverbs0"));
  EXPECT_THAT(decision.nics, ElementsAre(0, 3));
}

TEST(Evidence, an_absent_allocated_nic_is_missing_beside_a_foreign_one) {
  const auto table = table_with(pool(pools::PoolMode::exclusive, {"mlx5_0"}));
  ContainerBuilder container;
  container.annotation(kHcaAllocation, table.node().nics[0].pci->str());
  container.device("/dev/infiniband/uverbs3", 231, 195);
  container.pod_annotation("rdma.railhead.io/container.main", "required");
  EXPECT_THAT(test::missing(container, table), Contains("/dev/infiniband/uverbs0"));
  EXPECT_EQ(test::decide(container, table).outcome, Outcome::adjusted);
}

TEST(Evidence, slots_come_also_beside_a_foreign_uverbs) {
  const auto table = table_with(pool(pools::PoolMode::shared, {"mlx5_1"}));
  ContainerBuilder container;
  container.annotation(kHcaAllocation, "").device("/dev/infiniband/uverbs3", 231, 195);
  EXPECT_THAT(paths(test::decide(container, table).adjustment),
              Contains("/dev/infiniband/uverbs1"));
}

TEST(Evidence, required_counts_the_allocated_nic_not_the_foreign_one) {
  const auto table = table_with(pool(pools::PoolMode::exclusive, {"mlx5_0"}));
  ContainerBuilder container;
  container.annotation(kHcaAllocation, "0000:ff:1f.7").device("/dev/infiniband/uverbs3", 231, 195);
  container.pod_annotation("rdma.railhead.io/container.main", "required");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_EQ(decision.reason_code, "allocation-gone");
}

TEST(Evidence, gpus_alone_get_nothing_beside_a_foreign_uverbs) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).device("/dev/infiniband/uverbs3", 231, 195);
  EXPECT_THAT(paths(test::decide(container, table).adjustment),
              Not(Contains("/dev/infiniband/uverbs0")));
}

TEST(Evidence, gvisor_by_its_own_handler_name_gets_nothing) {
  const auto table = table_of(seed_node());
  for (const char* handler : {"runsc", "runsc-kvm", "gvisor"}) {
    ContainerBuilder container;
    container.nvidia(0).handler(handler);
    EXPECT_EQ(test::decide(container, table).reason_code, "vm-runtime") << handler;
  }
}

TEST(Evidence, handlers_with_a_kernel_of_their_own_are_configured) {
  InjectionPolicy policy;
  policy.vm_runtime_handlers = {"mine-*"};
  const auto table = table_of(seed_node(), policy);
  ContainerBuilder mine;
  mine.nvidia(0).handler("mine-1");
  EXPECT_EQ(test::decide(mine, table).reason_code, "vm-runtime");
  ContainerBuilder kata;
  kata.nvidia(0).handler("kata");
  EXPECT_EQ(test::decide(kata, table).outcome, Outcome::adjusted);
}

TEST(Evidence, a_pod_with_countless_cdi_annotations_proves_nothing_by_any) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  for (int i = 0; i < 300; ++i) container.pod_annotation("cdi.k8s.io/" + std::to_string(i), "x");
  container.annotation("cdi.k8s.io/real", "nvidia.com/gpu=0");
  EXPECT_TRUE(test::decide(container, table).adjustment.empty());
  ContainerBuilder usual;
  usual.pod_annotation("cdi.k8s.io/0", "x").annotation("cdi.k8s.io/real", "nvidia.com/gpu=0");
  EXPECT_THAT(test::decide(usual, table).nics, ElementsAre(0));
}

TEST(Evidence, remarks_are_bounded_whatever_annotations_say) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0);
  for (int i = 0; i < 8000; ++i) {
    container.pod_annotation("rdma.railhead.io/bogus" + std::to_string(i), "x");
    container.pod_annotation("cdi.k8s.io/" + std::to_string(i), "nvidia.com/gpu=0");
    container.annotation("cdi.k8s.io/" + std::to_string(i), "nvidia.com/gpu=0");
  }
  container.pod_annotation("nics.railhead.io/pod", std::string(9000, 'a') + ",b,c");
  const auto decision = test::decide(container, table);
  EXPECT_LE(decision.remarks.size(), 32U);
  for (const auto& remark : decision.remarks) EXPECT_LE(remark.text.size(), 512U);
  EXPECT_LT(decision.message.size(), 8192U);
  EXPECT_THAT(decision.remarks.back().text, HasSubstr("more"));
}

}  // namespace
}  // namespace railhead::inject
