// SPDX-License-Identifier: Apache-2.0
// What annotations may do to a decision, and what they never can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inject/decide.h"
#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::allowing;
using test::codes;
using test::ContainerBuilder;
using test::NodeBuilder;
using test::paths;
using test::seed_node;
using test::Slot;
using test::table_of;
using test::text_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kUverbs0Entry = "- path: /dev/infiniband/uverbs0\n  type: c\n  major: 231\n";
constexpr const char* kUverbs3 = "- path: /dev/infiniband/uverbs3\n";

InjectionPolicy denying() {
  InjectionPolicy policy;
  policy.annotations = config::AnnotationPolicy::deny;
  return policy;
}

TEST(RdmaAnnotation, none_opts_a_gpu_container_out) {
  const auto table = table_of(seed_node());
  for (const char* key : {"rdma.railhead.io/pod", "rdma.railhead.io/container.main"}) {
    ContainerBuilder container;
    container.nvidia(0).pod_annotation(key, "none");
    const auto decision = test::decide(container, table);
    EXPECT_EQ(decision.reason_code, "opted-out");
    EXPECT_TRUE(decision.adjustment.empty());
  }
}

TEST(RdmaAnnotation, the_container_form_wins_over_the_pod_form) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("rdma.railhead.io/pod", "none");
  container.pod_annotation("rdma.railhead.io/container.main", "preferred");
  EXPECT_EQ(test::decide(container, table).outcome, Outcome::adjusted);
}

TEST(RdmaAnnotation, required_that_is_met_changes_nothing) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("rdma.railhead.io/pod", "required");
  EXPECT_EQ(test::decide(container, table).outcome, Outcome::adjusted);
}

TEST(RdmaAnnotation, required_without_a_usable_nic_refuses_and_names_the_reason) {
  node::Node node = seed_node();
  for (std::size_t i = 0; i < 4; ++i) test::set_down(node, i);
  const auto table = table_of(node);
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("rdma.railhead.io/pod", "required");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_EQ(decision.reason_code, "no-usable-nic");
  EXPECT_THAT(decision.message, StartsWith("railhead: "));
  EXPECT_THAT(decision.message, HasSubstr("mlx5_0"));
  EXPECT_TRUE(decision.adjustment.empty());
}

TEST(RdmaAnnotation, required_does_not_accept_a_stand_in) {
  node::Node node = seed_node();
  test::set_down(node, 0);
  const auto table = table_of(node);
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("rdma.railhead.io/pod", "required");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_EQ(decision.reason_code, "stand-in");
  EXPECT_THAT(decision.message, StartsWith("railhead: "));
}

TEST(RdmaAnnotation, required_without_the_memlock_it_needs_refuses) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("rdma.railhead.io/pod", "required");
  RuntimeAbility runtime = test::able();
  runtime.memlock_ceiling = 8U << 20;
  const auto decision = test::decide(container, table, runtime);
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_EQ(decision.reason_code, "memlock-short");
  EXPECT_THAT(decision.message, HasSubstr("8388608"));
  container.pod_annotation("memlock.railhead.io/pod", "8388608");
  EXPECT_EQ(test::decide(container, table, runtime).outcome, Outcome::adjusted);
}

TEST(RdmaAnnotation, without_required_memlock_is_clamped_with_a_warning) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0);
  RuntimeAbility runtime = test::able();
  runtime.memlock_ceiling = 8U << 20;
  const auto decision = test::decide(container, table, runtime);
  EXPECT_EQ(decision.adjustment.memlock_bytes, 8U << 20);
  EXPECT_THAT(codes(decision.remarks), ElementsAre("memlock-clamped"));
}

TEST(RdmaAnnotation, required_in_the_container_form_holds_for_every_container) {
  for (const auto policy : {config::AnnotationPolicy::narrow, config::AnnotationPolicy::allow}) {
    InjectionPolicy injection;
    injection.annotations = policy;
    node::Node node = seed_node();
    for (std::size_t i = 0; i < 4; ++i) test::set_down(node, i);
    const auto table = table_of(node, injection);
    ContainerBuilder container;
    container.pod_annotation("rdma.railhead.io/container.main", "required");
    const auto decision = test::decide(container, table);
    EXPECT_EQ(decision.outcome, Outcome::refused);
    EXPECT_THAT(decision.message, StartsWith("railhead: "));
  }
}

TEST(RdmaAnnotation, required_on_the_pod_holds_for_containers_with_gpus_only) {
  const auto table = table_of(seed_node());
  ContainerBuilder sidecar;
  sidecar.pod_annotation("rdma.railhead.io/pod", "required");
  const auto decision = test::decide(sidecar, table);
  EXPECT_EQ(decision.outcome, Outcome::untouched);
  EXPECT_THAT(decision.remarks, IsEmpty());
  InjectionPolicy off;
  off.gpus = config::GpuPolicy::none;
  const auto none = table_of(seed_node(), off);
  ContainerBuilder gpus;
  gpus.nvidia(0).pod_annotation("rdma.railhead.io/pod", "required");
  EXPECT_EQ(test::decide(gpus, none).outcome, Outcome::refused);
  EXPECT_EQ(test::decide(gpus, none).reason_code, "gpus-off");
}

/// As while a driver hangs at the start of the agent.
TEST(RdmaAnnotation, required_refuses_containers_with_gpus_on_an_unread_node) {
  const auto nothing = table_of(node::Node());
  ContainerBuilder by_node;
  by_node.nvidia(0);
  ContainerBuilder by_cdi;
  by_cdi.cdi("nvidia.com/gpu=0");
  ContainerBuilder by_variable;
  by_variable.env("NVIDIA_VISIBLE_DEVICES=GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c");
  for (auto* container : {&by_node, &by_cdi, &by_variable}) {
    EXPECT_EQ(test::decide(*container, nothing).outcome, Outcome::untouched);
    container->pod_annotation("rdma.railhead.io/pod", "required");
    const auto decision = test::decide(*container, nothing);
    EXPECT_EQ(decision.outcome, Outcome::refused);
    EXPECT_EQ(decision.reason_code, "gpu-unresolved");
  }
  ContainerBuilder sidecar;
  sidecar.pod_annotation("rdma.railhead.io/pod", "required");
  EXPECT_EQ(test::decide(sidecar, nothing).outcome, Outcome::untouched);
}

TEST(RdmaAnnotation, required_names_the_kubelet_that_did_not_answer) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.env("NVIDIA_VISIBLE_DEVICES=0");
  container.pod_annotation("rdma.railhead.io/container.main", "required");
  const auto decision = test::decide(container, table, test::able(), test::unanswered());
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_THAT(decision.message, HasSubstr("kubelet"));
}

TEST(RdmaAnnotation, required_refuses_in_each_place_where_nothing_is_given) {
  const auto roce = table_of(test::as_roce(seed_node()));
  ContainerBuilder own;
  own.nvidia(0).own_network().pod_annotation("rdma.railhead.io/pod", "required");
  EXPECT_EQ(test::decide(own, roce).outcome, Outcome::refused);
  EXPECT_EQ(test::decide(own, roce).reason_code, "roce-own-network");
  const auto table = table_of(seed_node());
  ContainerBuilder vm;
  vm.nvidia(0).handler("kata").pod_annotation("rdma.railhead.io/pod", "required");
  EXPECT_EQ(test::decide(vm, table).outcome, Outcome::refused);
  ContainerBuilder narrowed;
  narrowed.nvidia(0).pod_annotation("rdma.railhead.io/pod", "required");
  narrowed.pod_annotation("nics.railhead.io/pod", "mlx5_3");
  EXPECT_EQ(test::decide(narrowed, table).outcome, Outcome::refused);
  EXPECT_EQ(test::decide(narrowed, table).reason_code, "narrowed-away");
}

TEST(RdmaAnnotation, deny_ignores_required_with_a_warning) {
  node::Node node = seed_node();
  node.nics.clear();
  const auto table = table_of(node, denying());
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("rdma.railhead.io/pod", "required");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::untouched);
  EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-denied"));
}

TEST(RdmaAnnotation, under_allow_only_the_container_form_makes_an_rdma_container) {
  const auto table = table_of(seed_node(), allowing());
  for (const char* word : {"preferred", "required"}) {
    ContainerBuilder container;
    container.pod_annotation("rdma.railhead.io/container.main", word);
    const auto decision = test::decide(container, table);
    EXPECT_EQ(decision.reason_code, "annotation");
    EXPECT_THAT(decision.nics, ElementsAre(0, 1, 2, 3)) << "all usable compute NICs";
    ContainerBuilder pod_form;
    pod_form.pod_annotation("rdma.railhead.io/pod", word);
    EXPECT_TRUE(test::decide(pod_form, table).adjustment.empty());
  }
}

TEST(RdmaAnnotation, under_narrow_makes_no_rdma_container_and_says_so) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.pod_annotation("rdma.railhead.io/container.main", "preferred");
  const auto decision = test::decide(container, table);
  EXPECT_TRUE(decision.adjustment.empty());
  EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-refused"));
}

TEST(RdmaAnnotation, asks_for_the_deal_where_gpus_get_nothing_unasked) {
  InjectionPolicy policy = allowing();
  policy.gpus = config::GpuPolicy::none;
  const auto table = table_of(seed_node(), policy);
  ContainerBuilder container;
  container.nvidia(4).pod_annotation("rdma.railhead.io/container.main", "preferred");
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(2));
}

TEST(NicsAnnotation, narrows_what_is_due) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  for (int i = 0; i < 8; ++i) container.nvidia(i);
  container.pod_annotation("nics.railhead.io/pod", "mlx5_2,mlx5_1");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(1, 2));
  EXPECT_EQ(test::variable(decision.adjustment, "NCCL_IB_HCA"), "=mlx5_1:1,mlx5_2:1");
  EXPECT_THAT(decision.remarks, IsEmpty());
}

TEST(NicsAnnotation, names_that_are_unknown_or_not_due_are_refused_and_reported) {
  for (const auto policy : {config::AnnotationPolicy::narrow, config::AnnotationPolicy::allow}) {
    InjectionPolicy injection;
    injection.annotations = policy;
    const auto table = table_of(seed_node(), injection);
    ContainerBuilder container;
    container.nvidia(0).pod_annotation("nics.railhead.io/container.main", "mlx5_0,mlx5_3,mlx5_9");
    const auto decision = test::decide(container, table);
    EXPECT_THAT(decision.nics, ElementsAre(0)) << "it may only narrow";
    EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-refused", "annotation-refused"));
  }
}

TEST(NicsAnnotation, that_leaves_no_nic_leaves_nothing_at_all) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("nics.railhead.io/pod", "mlx5_3");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.reason_code, "narrowed-away");
  EXPECT_TRUE(decision.adjustment.empty());
}

TEST(NicsAnnotation, under_allow_names_the_nics_of_a_container_without_gpus) {
  node::Node node = seed_node();
  test::set_down(node, 3);
  const auto table = table_of(node, allowing());
  ContainerBuilder container;
  container.pod_annotation("nics.railhead.io/container.main", "mlx5_1,mlx5_3");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(1));
  EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-refused")) << "mlx5_3 is down";
}

TEST(NicsAnnotation, under_allow_names_storage_nics_but_no_virtual_functions) {
  NodeBuilder builder = test::eight_gpus_four_nics();
  const Slot apart = builder.host_bridge(0xd0, 1);
  const Slot port = builder.bridge(apart);
  builder.nic(port).name("storage");
  builder.nic(builder.bridge(apart)).name("pf").virtual_functions(1);
  node::Node node = test::with_device_nodes(builder.build());
  InjectionPolicy policy = allowing();
  const affinity::RoleOverride storage{{"storage"}, affinity::Role::storage};
  const DecisionTable table(node, {{storage}, {}}, policy);
  std::string vf;
  for (const node::Nic& nic : node.nics) {
    const node::PciDevice* pci = node.find_pci(*nic.pci);
    if (pci != nullptr && pci->is_vf()) vf = nic.name;
  }
  ASSERT_FALSE(vf.empty());
  ContainerBuilder named;
  named.pod_annotation("nics.railhead.io/container.main", "storage,pf," + vf);
  const auto decision = test::decide(named, table);
  ASSERT_EQ(decision.nics.size(), 1U);
  EXPECT_EQ(table.node().nics[decision.nics[0]].name, "storage");
  EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-refused", "annotation-refused"));
  ContainerBuilder unnamed;
  unnamed.pod_annotation("rdma.railhead.io/container.main", "preferred");
  EXPECT_EQ(test::decide(unnamed, table).nics.size(), 4U);
}

TEST(NicsAnnotation, of_present_devices_narrows_the_environment) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).device("/dev/infiniband/uverbs2", 231, 194);
  container.device("/dev/infiniband/uverbs3", 231, 195);
  container.pod_annotation("nics.railhead.io/pod", "mlx5_3");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(test::variable(decision.adjustment, "NCCL_IB_HCA"), "=mlx5_3:1");
  EXPECT_THAT(decision.adjustment.devices, IsEmpty());
}

TEST(MemlockAnnotation, sets_the_limit_of_an_rdma_container) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("memlock.railhead.io/pod", "1048576");
  EXPECT_EQ(test::decide(container, table).adjustment.memlock_bytes, 1048576U);
}

TEST(MemlockAnnotation, makes_no_rdma_container) {
  const auto table = table_of(seed_node(), allowing());
  for (const char* key : {"memlock.railhead.io/container.main", "memlock.railhead.io/pod"}) {
    ContainerBuilder container;
    container.pod_annotation(key, "unlimited");
    EXPECT_TRUE(test::decide(container, table).adjustment.empty()) << key;
  }
}

TEST(MemlockAnnotation, is_capped_by_policy_with_a_warning) {
  InjectionPolicy policy;
  policy.memlock_cap = 1U << 20;
  const auto table = table_of(seed_node(), policy);
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("ulimits.nri.containerd.io/container.main",
                                     "- {type: memlock, hard: unlimited, soft: unlimited}");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.adjustment.memlock_bytes, 1U << 20);
  EXPECT_THAT(codes(decision.remarks), ElementsAre("memlock-capped"));
}

TEST(DeviceAnnotation, for_what_is_due_anyway_changes_nothing_not_even_numbers) {
  const auto table = table_of(seed_node());
  for (const char* key : {"devices.nri.io/pod", "devices.noderesource.dev/container.main"}) {
    ContainerBuilder container;
    container.nvidia(0).pod_annotation(key, std::string(kUverbs0Entry) + "  minor: 0\n");
    const auto decision = test::decide(container, table);
    EXPECT_THAT(paths(decision.adjustment),
                ElementsAre("/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm"));
    EXPECT_EQ(decision.adjustment.devices[0].minor, 192) << "the node's, not seed 002's";
    EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-numbers-ignored"));
  }
}

TEST(DeviceAnnotation, with_the_right_numbers_is_not_remarked_on) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  container.nvidia(0).pod_annotation(
      "devices.nri.io/pod", std::string(kUverbs0Entry) + "  minor: 192\n  file_mode: 0666\n");
  EXPECT_THAT(test::decide(container, table).remarks, IsEmpty());
}

TEST(DeviceAnnotation, never_narrows) {
  const auto table = table_of(seed_node());
  ContainerBuilder container;
  for (int i = 0; i < 8; ++i) container.nvidia(i);
  container.pod_annotation("devices.nri.io/pod", kUverbs3);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0, 1, 2, 3));
}

TEST(DeviceAnnotation, under_narrow_never_widens) {
  const auto table = table_of(seed_node());
  for (const char* key : {"devices.nri.io/pod", "devices.nri.io/container.main"}) {
    ContainerBuilder container;
    container.nvidia(0).pod_annotation(key, kUverbs3);
    const auto decision = test::decide(container, table);
    EXPECT_THAT(decision.nics, ElementsAre(0));
    EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-refused"));
    ContainerBuilder plain;
    plain.pod_annotation(key, kUverbs3);
    const auto nothing = test::decide(plain, table);
    EXPECT_TRUE(nothing.adjustment.empty());
    EXPECT_THAT(codes(nothing.remarks), ElementsAre("annotation-refused"));
  }
}

TEST(DeviceAnnotation, under_allow_gives_what_policy_allows) {
  const auto table = table_of(seed_node(), allowing());
  ContainerBuilder plain;
  plain.pod_annotation("devices.nri.io/container.main", kUverbs3);
  const auto decision = test::decide(plain, table);
  EXPECT_EQ(decision.reason_code, "annotation");
  EXPECT_THAT(paths(decision.adjustment),
              ElementsAre("/dev/infiniband/uverbs3", "/dev/infiniband/rdma_cm"));
  ContainerBuilder gpus;
  gpus.nvidia(0).pod_annotation("devices.nri.io/pod", kUverbs3);
  EXPECT_THAT(test::decide(gpus, table).nics, ElementsAre(0, 3)) << "beside the deal";
}

TEST(DeviceAnnotation, in_the_pod_form_reaches_only_containers_with_gpus) {
  const auto table = table_of(seed_node(), allowing());
  ContainerBuilder sidecar;
  sidecar.pod_annotation("devices.nri.io/pod", kUverbs3);
  const auto decision = test::decide(sidecar, table);
  EXPECT_TRUE(decision.adjustment.empty());
  EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-refused"));
}

TEST(DeviceAnnotation, obtains_nothing_but_rdma_devices_of_this_node) {
  const auto table = table_of(seed_node(), allowing());
  for (const char* path :
       {"/dev/sda", "/dev/infiniband/../sda", "/dev/infiniband/uverbs0/",
        "/dev//infiniband/uverbs0", "//dev/infiniband/uverbs0", "/dev/infiniband/./uverbs0",
        "/DEV/infiniband/uverbs0", "/dev/infiniband/UVERBS0", "dev/infiniband/uverbs0",
        "/dev/infiniband/uverbs99", "/dev/infiniband/uverbs00", "/dev/infiniband/uverbs0 ",
        "/dev/infiniband", "/dev/infiniband/rdma_cm/../uverbs0", "/dev/mem", "/dev/nvidia0"}) {
    for (const char* key : {"devices.nri.io/container.main", "devices.noderesource.dev/pod"}) {
      for (const bool gpus : {true, false}) {
        ContainerBuilder container;
        if (gpus) container.nvidia(0);
        container.pod_annotation(key, std::string("[{path: \"") + path + "\", type: c}]");
        const auto decision = test::decide(container, table);
        EXPECT_NE(decision.outcome, Outcome::refused) << "the container starts";
        EXPECT_EQ(decision.nics.size(), gpus ? 1U : 0U) << path;
        EXPECT_EQ(decision.adjustment.devices.size(), gpus ? 2U : 0U) << path;
        EXPECT_THAT(text_of(decision.remarks, "annotation-refused"), HasSubstr("no RDMA device"));
      }
    }
  }
}

TEST(DeviceAnnotation, a_stated_block_type_still_gives_the_character_device) {
  const auto table = table_of(seed_node(), allowing());
  ContainerBuilder container;
  container.pod_annotation("devices.nri.io/container.main",
                           "[{path: /dev/infiniband/uverbs0, type: b, major: 8, minor: 0}]");
  const auto decision = test::decide(container, table);
  ASSERT_EQ(decision.adjustment.devices.size(), 2U);
  EXPECT_EQ(decision.adjustment.devices[0].major, 231);
  EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-numbers-ignored"));
}

TEST(DeviceAnnotation, umad_is_given_only_where_configuration_lists_it) {
  constexpr const char* kUmad = "[{path: /dev/infiniband/umad3}]";
  const auto table = table_of(seed_node(), allowing());
  ContainerBuilder container;
  container.pod_annotation("devices.nri.io/container.main", kUmad);
  const auto refused = test::decide(container, table);
  EXPECT_TRUE(refused.adjustment.empty());
  EXPECT_THAT(codes(refused.remarks), ElementsAre("annotation-refused"));
  InjectionPolicy policy = allowing();
  policy.devices.emplace_back("umad");
  const auto listing = table_of(seed_node(), policy);
  EXPECT_THAT(
      paths(test::decide(container, listing).adjustment),
      ElementsAre("/dev/infiniband/uverbs3", "/dev/infiniband/umad3", "/dev/infiniband/rdma_cm"));
}

TEST(DeviceAnnotation, rdma_cm_alone_names_no_nic) {
  const auto table = table_of(seed_node(), allowing());
  ContainerBuilder container;
  container.pod_annotation("devices.nri.io/container.main", "[{path: /dev/infiniband/rdma_cm}]");
  EXPECT_TRUE(test::decide(container, table).adjustment.empty());
}

TEST(DeviceAnnotation, never_reaches_a_pf_with_vfs_or_a_nic_that_is_not_usable) {
  node::Node node = seed_node();
  for (node::PciDevice& pci : node.pci) {
    if (pci.address == node.nics[3].pci) pci.sriov_numvfs = 4;
  }
  test::set_down(node, 2);
  const auto table = table_of(node, allowing());
  for (const char* number : {"2", "3"}) {
    ContainerBuilder container;
    container.pod_annotation("devices.nri.io/container.main",
                             std::string("[{path: /dev/infiniband/uverbs") + number + "}]");
    const auto decision = test::decide(container, table);
    EXPECT_TRUE(decision.adjustment.empty()) << number;
    EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-refused"));
  }
}

TEST(DeviceAnnotation, does_not_get_ethernet_into_a_network_of_its_own) {
  const auto table = table_of(test::as_roce(seed_node()), allowing());
  ContainerBuilder container;
  container.own_network().pod_annotation("devices.nri.io/container.main", kUverbs3);
  EXPECT_TRUE(test::decide(container, table).adjustment.empty());
  ContainerBuilder host;
  host.pod_annotation("devices.nri.io/container.main", kUverbs3);
  EXPECT_THAT(test::decide(host, table).nics, ElementsAre(3));
}

TEST(DeviceAnnotation, does_not_widen_devices_from_elsewhere) {
  const auto table = table_of(seed_node(), allowing());
  ContainerBuilder container;
  container.nvidia(0).device("/dev/infiniband/uverbs2", 231, 194);
  container.pod_annotation("devices.nri.io/container.main", kUverbs3);
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.adjustment.devices, IsEmpty());
  EXPECT_THAT(codes(decision.remarks), Contains("annotation-refused"));
}

TEST(DeviceAnnotation, that_device_injector_obeyed_before_us_is_not_added_again) {
  const auto table = table_of(seed_node(), allowing());
  ContainerBuilder container;
  container.device("/dev/infiniband/uverbs3", 231, 195);
  container.pod_annotation("devices.nri.io/container.main", kUverbs3);
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.adjustment.devices, IsEmpty());
  EXPECT_EQ(decision.reason_code, "rdma-present");
  EXPECT_EQ(test::variable(decision.adjustment, "NCCL_IB_HCA"), "=mlx5_3:1");
}

TEST(DeviceAnnotation, deny_honours_none) {
  const auto table = table_of(seed_node(), denying());
  ContainerBuilder container;
  container.pod_annotation("devices.nri.io/container.main", kUverbs3);
  container.pod_annotation("rdma.railhead.io/container.main", "preferred");
  const auto decision = test::decide(container, table);
  EXPECT_TRUE(decision.adjustment.empty());
  EXPECT_THAT(codes(decision.remarks), ElementsAre("annotation-denied", "annotation-denied"));
}

TEST(DeviceAnnotation, a_list_of_hundreds_of_disks_is_reported_in_few_remarks) {
  const auto table = table_of(seed_node());
  std::string yaml = "[";
  for (int i = 0; i < 400; ++i) yaml += "{path: /dev/sda" + std::to_string(i) + "},";
  ContainerBuilder container;
  container.nvidia(0).pod_annotation("devices.nri.io/pod", yaml + "]");
  const auto decision = test::decide(container, table);
  EXPECT_LT(decision.remarks.size(), 20U);
  EXPECT_EQ(decision.outcome, Outcome::adjusted);
}

}  // namespace
}  // namespace railhead::inject
