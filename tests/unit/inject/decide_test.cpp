// SPDX-License-Identifier: Apache-2.0
// Who is an RDMA container and what it gets: "Pod interface", sentence by sentence. Annotations
// have decide_annotations_test.cpp.
#include "inject/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::codes;
using test::ContainerBuilder;
using test::paths;
using test::seed_node;
using test::table_of;
using test::variable;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DecisionTable with_policy(config::GpuPolicy gpus, node::Node node = seed_node()) {
  InjectionPolicy policy;
  policy.gpus = gpus;
  return table_of(std::move(node), policy);
}

TEST(Decide, a_container_without_gpus_gets_nothing) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.env("PATH=/bin").env("NVIDIA_VISIBLE_DEVICES=all");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::untouched);
  EXPECT_EQ(decision.reason_code, "not-rdma");
  EXPECT_TRUE(decision.adjustment.empty());
  EXPECT_THAT(decision.remarks, IsEmpty());
}

TEST(Decide, gpus_0_and_1_get_mlx5_0_with_rdma_cm_memlock_and_nccl) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).nvidia(1);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::adjusted);
  EXPECT_EQ(decision.reason_code, "gpus");
  EXPECT_THAT(decision.gpus, ElementsAre(0, 1));
  EXPECT_THAT(decision.nics, ElementsAre(0));
  EXPECT_THAT(decision.adjustment.devices,
              ElementsAre(container::NewDevice{"/dev/infiniband/uverbs0", 231, 192, 0666, 0, 0},
                          container::NewDevice{"/dev/infiniband/rdma_cm", 10, 58, 0666, 0, 0}));
  EXPECT_EQ(decision.adjustment.memlock_bytes, container::kUnlimited);
  EXPECT_EQ(variable(decision.adjustment, "NCCL_IB_HCA"), "=mlx5_0:1");
  EXPECT_THAT(decision.message, HasSubstr("GPUs 0, 1 (device nodes) -> mlx5_0"));
}

TEST(Decide, the_pods_of_seed_002_get_the_nics_of_their_indices) {
  const auto table = table_of(seed_node());
  ContainerBuilder sglang;
  sglang.env("NVIDIA_VISIBLE_DEVICES=0,1,2,3");
  EXPECT_THAT(test::decide(sglang, table).nics, ElementsAre(0, 1));
  ContainerBuilder vllm;
  vllm.env("NVIDIA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7");
  EXPECT_THAT(test::decide(vllm, table).nics, ElementsAre(0, 1, 2, 3));
  ContainerBuilder two;
  two.env("NVIDIA_VISIBLE_DEVICES=4,5");
  EXPECT_THAT(test::decide(two, table).nics, ElementsAre(2));
}

TEST(Decide, rdma_cm_comes_once_and_not_where_the_node_has_none) {
  node::Node node = seed_node();
  const auto table = table_of(node);
  ContainerBuilder container;
  for (int i = 0; i < 8; ++i) container.nvidia(i);
  EXPECT_EQ(test::decide(container, table).adjustment.devices.size(), 5U);
  node.rdma_cm.reset();
  const auto without = table_of(node);
  EXPECT_EQ(test::decide(container, without).adjustment.devices.size(), 4U);
}

TEST(Decide, umad_and_issm_come_where_configured_with_the_hosts_modes) {
  InjectionPolicy policy;
  policy.devices = {"uverbs", "rdma_cm", "umad", "issm"};
  const auto table = table_of(seed_node(), policy);
  ContainerBuilder container;
  container.nvidia(0);
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.adjustment.devices,
              ElementsAre(container::NewDevice{"/dev/infiniband/uverbs0", 231, 192, 0666, 0, 0},
                          container::NewDevice{"/dev/infiniband/umad0", 231, 0, 0600, 0, 27},
                          container::NewDevice{"/dev/infiniband/issm0", 231, 64, 0600, 0, 0},
                          container::NewDevice{"/dev/infiniband/rdma_cm", 10, 58, 0666, 0, 0}));
}

TEST(Decide, gpus_none_means_gpus_get_nothing) {
  const auto table = with_policy(config::GpuPolicy::none);
  ContainerBuilder container;
  container.nvidia(0);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::untouched);
  EXPECT_EQ(decision.reason_code, "gpus-off");
  EXPECT_TRUE(decision.adjustment.empty());
}

TEST(Decide, gpus_numa_means_the_compute_nics_of_their_numa_nodes) {
  const auto table = with_policy(config::GpuPolicy::numa);
  ContainerBuilder container;
  container.nvidia(5);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(2, 3));
  node::Node unknown = seed_node();
  unknown.gpus[5].numa_node.reset();
  unknown.nics[2].numa_node.reset();
  const auto blind = with_policy(config::GpuPolicy::numa, unknown);
  const auto decision = test::decide(container, blind);
  EXPECT_TRUE(decision.adjustment.empty()) << "unknown is not the same place";
}

TEST(Decide, gpus_all_means_all_usable_compute_nics) {
  node::Node node = seed_node();
  test::set_down(node, 1);
  const auto table = with_policy(config::GpuPolicy::all, node);
  ContainerBuilder container;
  container.nvidia(5);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0, 2, 3));
}

TEST(Decide, storage_nics_are_never_dealt) {
  const auto table =
      with_policy(config::GpuPolicy::all, test::with_device_nodes(test::dgx_h100().build()));
  ContainerBuilder container;
  container.nvidia(0);
  for (const std::size_t nic : test::decide(container, table).nics) {
    EXPECT_EQ(table.deal().roles[nic].role, affinity::Role::compute);
  }
}

TEST(Decide, a_gpu_whose_nic_is_down_gets_a_stand_in_with_a_warning) {
  node::Node node = seed_node();
  test::set_down(node, 0);
  const auto table = table_of(node);
  ContainerBuilder container;
  container.nvidia(0);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::adjusted);
  EXPECT_THAT(decision.nics, ElementsAre(1));
  EXPECT_THAT(codes(decision.remarks), Contains("stand-in"));
  EXPECT_THAT(codes(decision.remarks), Contains("nic-not-usable"));
}

TEST(Decide, a_container_for_which_no_nic_remains_gets_nothing_at_all) {
  node::Node node = seed_node();
  for (std::size_t i = 0; i < 4; ++i) test::set_down(node, i);
  const auto table = table_of(node);
  ContainerBuilder container;
  container.nvidia(0);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::untouched);
  EXPECT_EQ(decision.reason_code, "no-usable-nic");
  EXPECT_TRUE(decision.adjustment.empty());
  EXPECT_THAT(decision.message, HasSubstr("mlx5_0"));
}

TEST(Decide, a_node_without_nics_says_so) {
  node::Node node = seed_node();
  node.nics.clear();
  const auto table = table_of(node);
  ContainerBuilder container;
  container.nvidia(0);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.reason_code, "no-usable-nic");
  EXPECT_THAT(decision.message, HasSubstr("no compute NIC"));
}

TEST(Decide, a_pf_with_vfs_enabled_is_never_dealt_unless_configured) {
  node::Node node = seed_node();
  for (node::PciDevice& pci : node.pci) {
    if (pci.address == node.nics[0].pci) pci.sriov_numvfs = 4;
  }
  ContainerBuilder container;
  container.nvidia(0);
  const auto table = table_of(node);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(1));
  EXPECT_EQ(table.usable()[0].reason,
            "has 4 virtual functions enabled, and injection.pfWithVfs is false");
  InjectionPolicy policy;
  policy.pf_with_vfs = true;
  const auto configured = table_of(node, policy);
  EXPECT_THAT(test::decide(container, configured).nics, ElementsAre(0));
  test::set_down(node, 0);
  EXPECT_EQ(table_of(node).usable()[0].reason, table_of(node, policy).usable()[0].reason);
}

TEST(Decide, a_pod_with_its_own_network_is_dealt_no_ethernet_nic) {
  const auto table = table_of(test::as_roce(seed_node()));
  ContainerBuilder container;
  container.nvidia(0).own_network();
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::untouched);
  EXPECT_EQ(decision.reason_code, "roce-own-network");
  EXPECT_TRUE(decision.adjustment.empty());
  ContainerBuilder host;
  host.nvidia(0);
  EXPECT_THAT(test::decide(host, table).nics, ElementsAre(0));
}

TEST(Decide, unknown_namespaces_count_as_an_own_network) {
  const auto table = table_of(test::as_roce(seed_node()));
  ContainerBuilder container;
  container.nvidia(0);
  container.request().pod_namespaces.clear();
  EXPECT_EQ(test::decide(container, table).reason_code, "roce-own-network");
}

TEST(Decide, configuration_may_deal_ethernet_to_own_networks) {
  InjectionPolicy policy;
  policy.roce_without_host_network = true;
  const auto table = table_of(test::as_roce(seed_node()), policy);
  ContainerBuilder container;
  container.nvidia(0).own_network();
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(0));
  EXPECT_THAT(test::codes(decision.remarks), Contains("roce-needs-netdev"));
}

TEST(Decide, whose_netdev_is_in_the_pod_is_not_told_that_it_needs_one) {
  InjectionPolicy policy;
  policy.roce_without_host_network = true;
  const auto roce = table_of(test::as_roce(seed_node()), policy);
  ContainerBuilder multus;
  multus.nvidia(0).own_network().pod_annotation("k8s.v1.cni.cncf.io/networks", "rail0");
  EXPECT_THAT(test::decide(multus, roce).remarks, IsEmpty());
  ContainerBuilder host;
  host.nvidia(0);
  EXPECT_THAT(test::decide(host, roce).remarks, IsEmpty());
  ContainerBuilder infiniband;
  infiniband.nvidia(0).own_network();
  EXPECT_THAT(test::decide(infiniband, table_of(seed_node())).remarks, IsEmpty());
}

TEST(Decide, infiniband_nics_stay_where_ethernet_ones_are_left_out) {
  node::Node node = seed_node();
  node.nics[0].ports[0].link_layer = node::LinkLayer::ethernet;
  const auto table = with_policy(config::GpuPolicy::all, node);
  ContainerBuilder container;
  container.nvidia(7).own_network();
  const auto decision = test::decide(container, table);
  ASSERT_EQ(decision.outcome, Outcome::adjusted);
  EXPECT_THAT(decision.nics, ::testing::Not(Contains(0U)));
  EXPECT_EQ(variable(decision.adjustment, "NCCL_IB_HCA").find("mlx5_0"), std::string::npos);
}

// So it is with EFA, whose link layer sysfs calls "Unknown" and which needs no address of a netdev.
TEST(Decide, a_nic_that_names_no_link_layer_is_no_ethernet) {
  node::Node node = seed_node();
  node.nics[0].ports[0].link_layer = node::LinkLayer::unknown;
  const auto table = table_of(node);
  ContainerBuilder container;
  container.nvidia(0).own_network();
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0));
}

TEST(Decide, a_nic_below_its_expected_rate_is_said_or_refused) {
  affinity::Expectation rate;
  rate.name_globs = "mlx5_0";
  rate.kind = affinity::Expectation::Kind::rate;
  rate.gbps = 400;
  rate.where = "config.yaml:2:5";
  node::Node node = seed_node();
  node.nics[0].ports[0].rate_gbps = 100;
  const DecisionTable table(node, {{}, {rate}}, {});
  ContainerBuilder container;
  container.nvidia(0);
  const auto given = test::decide(container, table);
  EXPECT_EQ(given.outcome, Outcome::adjusted);
  EXPECT_THAT(text_of(given.remarks, warn::kNicSlow),
              HasSubstr("mlx5_0: port 1 runs at 100 Gbit/s, and 400 are expected"));
  container.pod_annotation("rdma.railhead.io/pod", "required");
  const auto refused = test::decide(container, table);
  EXPECT_EQ(refused.outcome, Outcome::refused);
  EXPECT_EQ(refused.reason_code, "nic-slow");
}

TEST(Decide, in_exclusive_rdma_mode_only_host_network_pods_are_dealt_to) {
  node::Node node = seed_node();
  node.rdma_netns = node::RdmaNetns::exclusive;
  const auto table = table_of(node);
  ContainerBuilder own;
  own.nvidia(0).own_network();
  EXPECT_EQ(test::decide(own, table).reason_code, "rdma-netns-exclusive");
  ContainerBuilder host;
  host.nvidia(0);
  EXPECT_EQ(test::decide(host, table).outcome, Outcome::adjusted);
}

TEST(Decide, a_privileged_container_gets_memlock_and_environment_only) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.privileged().env("NVIDIA_VISIBLE_DEVICES=0");
  for (int i = 0; i < 8; ++i) container.nvidia(i);
  container.device("/dev/infiniband/uverbs0", 231, 192);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.reason_code, "privileged");
  EXPECT_THAT(decision.adjustment.devices, IsEmpty());
  EXPECT_EQ(decision.adjustment.memlock_bytes, container::kUnlimited);
  EXPECT_EQ(variable(decision.adjustment, "NCCL_IB_HCA"), "=mlx5_0:1");
}

TEST(Decide, a_privileged_container_that_holds_no_gpu_gets_nothing) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.privileged().nvidia(0).nvidia(1);
  EXPECT_EQ(test::decide(container, table).reason_code, "not-rdma");
}

TEST(Decide, vm_runtimes_get_nothing_unless_configured) {
  const auto table = table_of(seed_node());
  for (const char* handler : {"kata", "kata-qemu", "firecracker"}) {
    ContainerBuilder container;
    container.nvidia(0).handler(handler);
    const auto decision = test::decide(container, table);
    EXPECT_EQ(decision.reason_code, "vm-runtime") << handler;
    EXPECT_TRUE(decision.adjustment.empty());
  }
  ContainerBuilder nvidia;
  nvidia.nvidia(0).handler("nvidia");
  EXPECT_EQ(test::decide(nvidia, table).outcome, Outcome::adjusted);
  InjectionPolicy policy;
  policy.vm_runtimes = true;
  const auto configured = table_of(seed_node(), policy);
  ContainerBuilder kata;
  kata.nvidia(0).handler("kata");
  EXPECT_EQ(test::decide(kata, configured).outcome, Outcome::adjusted);
}

TEST(Decide, rdma_devices_from_elsewhere_are_not_widened) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).device("/dev/infiniband/uverbs3", 231, 195);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.reason_code, "rdma-present");
  EXPECT_THAT(decision.adjustment.devices, IsEmpty());
  EXPECT_EQ(decision.adjustment.memlock_bytes, container::kUnlimited);
  EXPECT_EQ(variable(decision.adjustment, "NCCL_IB_HCA"), "=mlx5_3:1") << "names what is there";
}

TEST(Decide, rdma_devices_of_others_are_known_by_number_under_any_name) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).device("/dev/infiniband/uverbs0", 231, 194);
  EXPECT_EQ(variable(test::decide(container, table).adjustment, "NCCL_IB_HCA"), "=mlx5_2:1");
}

TEST(Decide, an_unknown_rdma_device_brings_memlock_and_no_nic) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).device("/dev/infiniband/uverbs77", 231, 999);
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.adjustment.devices, IsEmpty());
  EXPECT_THAT(decision.adjustment.env, IsEmpty());
  EXPECT_EQ(decision.adjustment.memlock_bytes, container::kUnlimited);
}

TEST(Decide, rdma_devices_without_gpus_make_no_rdma_container) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.device("/dev/infiniband/uverbs3", 231, 195);
  EXPECT_EQ(test::decide(container, table).reason_code, "not-rdma");
}

TEST(Decide, rdma_cm_that_is_there_is_not_added_again) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).device("/dev/infiniband/rdma_cm", 10, 58);
  EXPECT_THAT(paths(test::decide(container, table).adjustment),
              ElementsAre("/dev/infiniband/uverbs0"));
}

TEST(Decide, a_second_instance_of_ourselves_finds_everything_there) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0);
  const auto first = test::decide(container, table);
  for (const container::NewDevice& device : first.adjustment.devices) {
    container.device(device.path, device.major, device.minor);
  }
  for (const auto& [name, value] : first.adjustment.env) container.env(name + "=" + value);
  container.memlock(*first.adjustment.memlock_bytes, *first.adjustment.memlock_bytes);
  const auto second = test::decide(container, table);
  EXPECT_EQ(second.outcome, Outcome::untouched);
  EXPECT_EQ(second.reason_code, "complete");
  EXPECT_TRUE(second.adjustment.empty());
  EXPECT_THAT(second.remarks, IsEmpty());
}

TEST(Decide, an_adjustment_never_names_one_thing_twice) {
  node::Node node = seed_node();
  node.nics[1].uverbs = node.nics[0].uverbs;  // a lying sysfs
  const auto table = with_policy(config::GpuPolicy::all, node);
  ContainerBuilder container;
  container.nvidia(0);
  auto all = paths(test::decide(container, table).adjustment);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(Decide, a_lower_memlock_of_another_plugin_is_left_with_a_warning) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).memlock(65536, 65536);
  const auto decision = test::decide(container, table);
  EXPECT_FALSE(decision.adjustment.memlock_bytes);
  EXPECT_THAT(codes(decision.remarks), ElementsAre("memlock-left"));
}

TEST(Decide, renamed_nics_are_named_as_the_kernel_names_them) {
  node::Node node = seed_node();
  node.nics[0].name = "ibp24s0";
  const auto table = table_of(node);
  ContainerBuilder container;
  container.nvidia(0);
  EXPECT_EQ(variable(test::decide(container, table).adjustment, "NCCL_IB_HCA"), "=ibp24s0:1");
}

TEST(Decide, an_allocation_that_no_pool_offers_is_ignored_and_reported) {
  const auto table = table_of(seed_node());
  ContainerBuilder foreign;
  foreign.annotation("allocation.railhead.io/rdma.io/hca", "0000:10:00.0");
  const auto decision = test::decide(foreign, table);
  EXPECT_TRUE(decision.adjustment.empty());
  EXPECT_THAT(codes(decision.remarks), ElementsAre("allocation-unknown"));
}

TEST(Decide, gpus_of_the_environment_count_only_if_the_kubelet_confirms) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  const auto denied = test::decide(container, table, test::able(), test::holds({}));
  EXPECT_EQ(denied.reason_code, "not-rdma");
  EXPECT_THAT(codes(denied.remarks), ElementsAre("gpu-claim-denied"));
  const auto late = test::decide(container, table, test::able(), test::unanswered());
  EXPECT_EQ(late.reason_code, "gpu-unresolved");
  EXPECT_THAT(codes(late.remarks), ElementsAre("gpu-claim-unanswered"));
}

TEST(NeedsKubelet, only_where_the_environment_alone_would_decide) {
  const auto table = table_of(seed_node());
  ContainerBuilder env;
  env.env("NVIDIA_VISIBLE_DEVICES=0");
  EXPECT_TRUE(needs_kubelet(test::facts(env, table), table));
  env.nvidia(0);
  EXPECT_FALSE(needs_kubelet(test::facts(env, table), table));
  ContainerBuilder image_default;
  image_default.env("NVIDIA_VISIBLE_DEVICES=all");
  EXPECT_FALSE(needs_kubelet(test::facts(image_default, table), table));
}

TEST(NeedsKubelet, not_where_gpus_get_nothing_and_no_annotation_asks) {
  const auto table = with_policy(config::GpuPolicy::none);
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  EXPECT_FALSE(needs_kubelet(test::facts(container, table), table));
  container.pod_annotation("rdma.railhead.io/pod", "required");
  EXPECT_TRUE(needs_kubelet(test::facts(container, table), table));
}

TEST(MissingDevices, are_what_a_running_container_should_have_and_lacks) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0);
  EXPECT_THAT(test::missing(container, table),
              ElementsAre("/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm"));
  container.device("/dev/infiniband/uverbs0", 231, 192).device("/dev/infiniband/rdma_cm", 10, 58);
  EXPECT_THAT(test::missing(container, table), IsEmpty());
  ContainerBuilder plain;
  EXPECT_THAT(test::missing(plain, table), IsEmpty());
}

TEST(MissingDevices, are_told_even_where_required_would_refuse) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).memlock(5, 5).pod_annotation("rdma.railhead.io/pod", "required");
  EXPECT_EQ(test::decide(container, table).outcome, Outcome::refused);
  EXPECT_EQ(test::missing(container, table).size(), 2U);
}

TEST(DecisionTable, the_twin_of_a_uuid_is_ambiguous_and_three_are_not_one) {
  node::Node node = seed_node();
  node.gpus[1].uuid = node.gpus[2].uuid = node.gpus[0].uuid;
  const auto table = table_of(node);
  EXPECT_FALSE(table.gpu_by_uuid(*node.gpus[0].uuid));
  EXPECT_TRUE(table.is_ambiguous(*node.gpus[0].uuid));
  EXPECT_EQ(table.gpu_by_uuid(*node.gpus[3].uuid), 3U);
}

TEST(DecisionTable, a_broken_cdi_spec_is_a_problem_of_the_node) {
  node::Node node = seed_node();
  node.cdi = {{"/etc/cdi/x.yaml", "kind: ["}};
  const auto table = table_of(node);
  ASSERT_EQ(table.node().problems.size(), 1U);
  EXPECT_EQ(table.node().problems[0].path, "/etc/cdi/x.yaml");
}

}  // namespace
}  // namespace railhead::inject
