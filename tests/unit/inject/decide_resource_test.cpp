// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"
#include "unit/inject/pool_specs.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

const std::string kHca = "allocation.railhead.io/rdma.io/hca";

pools::PoolSpec pool(std::string name, std::vector<std::string> nics) {
  auto spec = test::shared_pool(std::move(name), std::move(nics));
  spec.kinds = {pools::FunctionKind::physical, pools::FunctionKind::virtual_,
                pools::FunctionKind::soft};
  return spec;
}

pools::PoolSpec per_nic(std::string name, std::vector<std::string> nics) {
  pools::PoolSpec spec = pool(std::move(name), std::move(nics));
  spec.slots_per_nic = 10;
  return spec;
}

pools::PoolSpec exclusive(std::string name, std::vector<std::string> nics) {
  pools::PoolSpec spec = pool(std::move(name), std::move(nics));
  spec.mode = pools::PoolMode::exclusive;
  return spec;
}

DecisionTable table_with(std::vector<pools::PoolSpec> pools, node::Node node = test::seed_node()) {
  InjectionPolicy policy;
  policy.pools = std::move(pools);
  return test::table_of(std::move(node), std::move(policy));
}

/// PCI address of a NIC of the seed's machine, as Allocate says it.
std::string id_of(const DecisionTable& table, std::size_t nic) {
  return table.node().nics[nic].pci->str();
}

TEST(Resource, a_fungible_slot_alone_admits_to_the_whole_pool) {
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_1", "mlx5_2"})});
  ContainerBuilder container;
  container.annotation(kHca, "");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(1, 2));
  EXPECT_EQ(decision.reason_code, "resource");
  EXPECT_THAT(decision.message, StartsWith("rdma.io/hca -> mlx5_1, mlx5_2"));
}

TEST(Resource, a_slot_gives_a_pf_with_vfs_which_the_deal_leaves_out) {
  node::Node node = test::seed_node();
  for (node::PciDevice& pci : node.pci) {
    if (pci.address == node.nics[0].pci) pci.sriov_numvfs = 4;
  }
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_0"})}, node);
  ContainerBuilder container;
  container.annotation(kHca, "").nvidia(0).pod_annotation("rdma.railhead.io/pod", "required");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(0));
  EXPECT_EQ(decision.reason_code, "resource");
}

TEST(Resource, the_environment_names_only_what_is_usable_of_the_pool) {
  node::Node node = test::seed_node();
  test::set_down(node, 2);
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_1", "mlx5_2"})}, node);
  ContainerBuilder container;
  container.annotation(kHca, "");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(1, 2));
  EXPECT_THAT(decision.adjustment.env, Contains(Pair("NCCL_IB_HCA", "=mlx5_1:1")));
}

TEST(Resource, a_slot_and_gpus_get_the_deal_within_the_pool) {
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_*"})});
  ContainerBuilder container;
  container.annotation(kHca, "").nvidia(0).nvidia(4);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0, 2));
  const auto narrow = table_with({pool("rdma.io/hca", {"mlx5_2"})});
  EXPECT_THAT(test::decide(container, narrow).nics, ElementsAre(2));
  ContainerBuilder elsewhere;
  elsewhere.annotation(kHca, "").nvidia(0);
  EXPECT_THAT(test::decide(elsewhere, narrow).nics, ElementsAre(2)) << "the whole pool";
}

TEST(Resource, a_pool_that_does_not_narrow_gives_all_its_nics) {
  auto spec = pool("rdma.io/hca", {"mlx5_1", "mlx5_2", "mlx5_3"});
  spec.narrow = false;
  const auto table = table_with({spec});
  ContainerBuilder container;
  container.annotation(kHca, "").nvidia(4);
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(1, 2, 3));
  EXPECT_THAT(decision.adjustment.env,
              Contains(Pair("NCCL_IB_HCA", "=mlx5_1:1,mlx5_2:1,mlx5_3:1")));
  container.pod_annotation("nics.railhead.io/container.main", "mlx5_2");
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(2)) << "its own wish still narrows";
}

TEST(Resource, slots_that_are_nics_are_not_narrowed_there_either) {
  auto spec = per_nic("rdma.io/hca", {"mlx5_*"});
  spec.narrow = false;
  const auto table = table_with({spec});
  ContainerBuilder container;
  container.annotation(kHca, id_of(table, 0) + "," + id_of(table, 3)).nvidia(0);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0, 3));
}

TEST(Resource, beside_it_another_pool_narrows) {
  auto spec = pool("rdma.io/storage", {"mlx5_2", "mlx5_3"});
  spec.narrow = false;
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_0", "mlx5_1"}), spec});
  ContainerBuilder container;
  container.annotation(kHca, "").annotation("allocation.railhead.io/rdma.io/storage", "").nvidia(0);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0, 2, 3));
}

TEST(Resource, slots_of_two_pools_get_nics_of_both) {
  const auto table =
      table_with({pool("rdma.io/hca", {"mlx5_0", "mlx5_1"}), pool("rdma.io/storage", {"mlx5_3"})});
  ContainerBuilder container;
  container.annotation(kHca, "").annotation("allocation.railhead.io/rdma.io/storage", "").nvidia(0);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0, 3));
}

TEST(Resource, a_slot_that_is_a_nic_far_from_the_gpus_is_that_nic) {
  const auto table = table_with({per_nic("rdma.io/storage", {"mlx5_2", "mlx5_3"})});
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/rdma.io/storage", id_of(table, 3)).nvidia(0);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(3));
}

TEST(Resource, a_slot_whose_nic_is_gone_is_said) {
  const auto table = table_with({per_nic("rdma.io/hca", {"mlx5_2", "mlx5_3"})});
  ContainerBuilder container;
  container.annotation(kHca, "0000:ff:1f.7");
  EXPECT_EQ(test::decide(container, table).reason_code, "allocation-gone");
}

TEST(Resource, a_slot_counts_where_gpus_alone_would_not) {
  InjectionPolicy policy;
  policy.gpus = config::GpuPolicy::none;
  policy.pools = {pool("rdma.io/hca", {"mlx5_*"})};
  const auto table = test::table_of(test::seed_node(), policy);
  ContainerBuilder container;
  container.annotation(kHca, "").nvidia(0);
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0));
}

TEST(Resource, a_slot_that_is_a_nic_gets_that_nic) {
  const auto table = table_with({per_nic("rdma.io/hca", {"mlx5_*"})});
  ContainerBuilder container;
  container.annotation(kHca, id_of(table, 3) + "," + id_of(table, 1));
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(1, 3));
}

TEST(Resource, an_exclusive_allocation_is_exactly_what_it_says) {
  const auto table =
      table_with({exclusive("nvidia.com/hostdev", {"mlx5_0"}), pool("rdma.io/hca", {"mlx5_*"})});
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/nvidia.com/hostdev", id_of(table, 0)).nvidia(4);
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(0)) << "nothing of the GPU's deal is added";
  container.annotation("nics.railhead.io/container.main", "mlx5_3");
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(0)) << "nor anything taken away";
}

TEST(Resource, nobody_else_is_dealt_what_an_exclusive_pool_has) {
  const auto table = table_with({exclusive("nvidia.com/hostdev", {"mlx5_0"})});
  ContainerBuilder container;
  container.nvidia(0);
  EXPECT_THAT(test::decide(container, table).nics, Not(Contains(0)));
}

TEST(Resource, an_exclusive_allocation_in_use_satisfies_required) {
  const auto table = table_with({exclusive("nvidia.com/hostdev", {"mlx5_0"})});
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/nvidia.com/hostdev", id_of(table, 0));
  container.pod_annotation("rdma.railhead.io/container.main", "required");
  EXPECT_EQ(test::decide(container, table).outcome, Outcome::adjusted);
}

TEST(Resource, what_was_allocated_and_is_gone_is_said) {
  const auto table = table_with({exclusive("nvidia.com/hostdev", {"mlx5_*"})});
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/nvidia.com/hostdev", "0000:ff:1f.7");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, IsEmpty());
  EXPECT_EQ(decision.reason_code, "allocation-gone");
  EXPECT_THAT(test::codes(decision.remarks), Contains("allocation-gone"));
}

TEST(Resource, a_pod_of_its_own_network_gets_the_ethernet_nic_it_asked_for) {
  const auto table =
      table_with({pool("rdma.io/hca", {"mlx5_1"})}, test::as_roce(test::seed_node()));
  ContainerBuilder asked;
  asked.own_network().annotation(kHca, "");
  EXPECT_THAT(test::decide(asked, table).nics, ElementsAre(1));
  ContainerBuilder dealt;
  dealt.own_network().nvidia(0);
  EXPECT_THAT(test::decide(dealt, table).nics, IsEmpty());
}

TEST(Resource, a_pool_may_hand_out_more_classes_of_devices) {
  auto spec = pool("rdma.io/hca", {"mlx5_0"});
  spec.devices = {"umad"};
  const auto table = table_with({spec});
  ContainerBuilder container;
  container.annotation(kHca, "");
  EXPECT_THAT(test::paths(test::decide(container, table).adjustment),
              Contains("/dev/infiniband/umad0"));
  ContainerBuilder other;
  other.nvidia(0);
  EXPECT_THAT(test::paths(test::decide(other, table).adjustment),
              Not(Contains("/dev/infiniband/umad0")));
}

TEST(Resource, pod_forms_of_annotations_reach_its_holder) {
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_*"})});
  ContainerBuilder container;
  container.annotation(kHca, "").pod_annotation("nics.railhead.io/pod", "mlx5_3");
  EXPECT_THAT(test::decide(container, table).nics, ElementsAre(3));
  ContainerBuilder none;
  none.annotation(kHca, "").pod_annotation("rdma.railhead.io/pod", "none");
  EXPECT_EQ(test::decide(none, table).reason_code, "opted-out");
}

TEST(Resource, an_allocation_that_the_pod_carries_too_refuses_the_start) {
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_*"})});
  ContainerBuilder container;
  container.annotation(kHca, "").pod_annotation(kHca, "");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_EQ(decision.reason_code, "allocation-copied");
  EXPECT_THAT(decision.message, HasSubstr("\"" + kHca + "\" also stands in the pod's annotations"));
  EXPECT_TRUE(decision.adjustment.empty());
}

// A wish cannot make it start, nor can GPUs: nobody knows whether the kubelet has counted a slot.
TEST(Resource, nothing_else_of_the_pod_changes_that_refusal) {
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_*"})});
  for (const char* wish : {"none", "preferred", "required"}) {
    ContainerBuilder container;
    container.annotation(kHca, "").pod_annotation(kHca, "").nvidia(0);
    container.pod_annotation("rdma.railhead.io/pod", wish);
    EXPECT_EQ(test::decide(container, table).reason_code, "allocation-copied") << wish;
  }
}

// An author can write keys with one slash, as many as fit. CRI-O copies them to the container.
TEST(Resource, keys_that_an_author_can_write_take_no_slot_away) {
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_*"})});
  ContainerBuilder container;
  container.annotation(kHca, "");
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) keys.push_back("allocation.railhead.io/x" + std::to_string(i));
  for (const auto& key : keys) container.annotation(key, "").pod_annotation(key, "");
  EXPECT_EQ(test::decide(container, table).reason_code, "resource");
}

TEST(Resource, of_another_node_or_an_older_configuration_is_reported) {
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_*"})});
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/rdma/old", "");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::untouched);
  EXPECT_THAT(test::codes(decision.remarks), ElementsAre("allocation-unknown"));
}

TEST(Resource, two_resources_are_held_together) {
  const auto table =
      table_with({exclusive("nvidia.com/hostdev", {"mlx5_3"}), pool("rdma.io/hca", {"mlx5_0"})});
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/nvidia.com/hostdev", id_of(table, 3));
  container.annotation(kHca, "");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(0, 3));
  EXPECT_THAT(decision.message, HasSubstr("nvidia.com/hostdev and rdma.io/hca"));
}

TEST(Resource, hostile_values_cost_little_and_give_nothing) {
  const auto table = table_with({exclusive("nvidia.com/hostdev", {"mlx5_*"})});
  for (const std::string& value :
       {std::string(100000, ','), std::string("../../dev/sda"), std::string(70000, 'x')}) {
    ContainerBuilder container;
    container.annotation("allocation.railhead.io/nvidia.com/hostdev", value);
    const auto decision = test::decide(container, table);
    EXPECT_THAT(decision.adjustment.devices, IsEmpty());
    EXPECT_LE(decision.remarks.size(), 4096U);
  }
}

TEST(Resource, variables_name_the_rails_and_not_what_is_beside_them) {
  affinity::RoleOverride management;
  management.name_globs = "mlx5_3";
  management.role = affinity::Role::management;
  const auto table = [&](const std::string& nics) {
    InjectionPolicy policy;
    policy.pools = {pool("rdma.io/hca", {nics})};
    return DecisionTable(test::seed_node(), {{management}, {}}, policy);
  };
  ContainerBuilder container;
  container.annotation(kHca, "");
  const auto all = test::decide(container, table("mlx5_*"));
  EXPECT_THAT(all.nics, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(all.adjustment.env, Contains(Pair("NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:1,mlx5_2:1")));
  const auto alone = test::decide(container, table("mlx5_3"));
  EXPECT_THAT(alone.adjustment.env, Contains(Pair("NCCL_IB_HCA", "=mlx5_3:1")));
}

TEST(Resource, a_nic_that_is_unused_by_design_is_in_no_pool) {
  affinity::Expectation unused;
  unused.name_globs = "mlx5_3";
  unused.where = "config.yaml:2:5";
  InjectionPolicy policy;
  policy.pools = {pool("rdma.io/hca", {"mlx5_2", "mlx5_3"})};
  const DecisionTable table(test::seed_node(), {{}, {unused}}, policy);
  ContainerBuilder container;
  container.annotation(kHca, "");
  const auto decision = test::decide(container, table);
  EXPECT_THAT(decision.nics, ElementsAre(2)) << decision.message;
  EXPECT_EQ(table.why_not_in(0).at(3), "unused by design (config.yaml:2:5)");
}

TEST(Resource, variables_name_no_nic_without_an_address) {
  node::Node node = test::seed_node();
  for (auto& port : node.nics[0].ports) port.link_layer = node::LinkLayer::ethernet;
  const auto table = table_with({pool("rdma.io/hca", {"mlx5_0", "mlx5_1"})}, node);
  ContainerBuilder container;
  container.own_network().annotation(kHca, "");
  EXPECT_THAT(test::decide(container, table).adjustment.env,
              Contains(Pair("NCCL_IB_HCA", "=mlx5_1:1")));
}

/// What a container gets that holds a slot of a shared pool of all NICs; its pod may say more.
Decision with_a_slot(const node::Node& node, ContainerBuilder& container) {
  container.annotation(kHca, "");
  return test::decide(container, table_with({pool("rdma.io/hca", {"mlx5_*"})}, node));
}

TEST(SlotWithoutNodes, in_a_network_of_its_own_where_rdma_is_exclusive) {
  node::Node node = test::seed_node();
  node.rdma_netns = node::RdmaNetns::exclusive;
  ContainerBuilder own;
  const auto decision = with_a_slot(node, own.own_network());
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_EQ(decision.reason_code, "rdma-netns-exclusive");
  EXPECT_THAT(
      decision.message,
      StartsWith("railhead: container \"main\" is not started, because it holds rdma.io/hca "
                 "and would not get all of that: RDMA namespaces are exclusive"));
  ContainerBuilder host;
  EXPECT_EQ(with_a_slot(node, host).outcome, Outcome::adjusted);
}

TEST(SlotWithoutNodes, where_the_kernel_gives_no_uverbs) {
  node::Node node = test::seed_node();
  for (auto& nic : node.nics) nic.uverbs.clear();
  ContainerBuilder container;
  const auto decision = with_a_slot(node, container);
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_THAT(decision.message, HasSubstr("no uverbs node: ib_uverbs is not loaded"));
}

TEST(SlotWithoutNodes, in_a_virtual_machine_of_its_own) {
  ContainerBuilder container;
  const auto decision = with_a_slot(test::seed_node(), container.handler("kata-qemu"));
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_EQ(decision.reason_code, "vm-runtime");
}

TEST(SlotWithoutNodes, where_an_annotation_narrows_all_away) {
  ContainerBuilder container;
  container.pod_annotation("nics.railhead.io/pod", "mlx5_9");
  const auto decision = with_a_slot(test::seed_node(), container);
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_THAT(decision.message, HasSubstr("\"nics.railhead.io/pod\" names no NIC that is due"));
}

/// A container with a slot of a shared pool of mlx5_0, and mlx5_2 and mlx5_3 from an exclusive one.
Decision with_two_resources(const node::Node& node, ContainerBuilder& container,
                            const std::string& more = "") {
  const auto table = table_with(
      {exclusive("example.com/vf", {"mlx5_2", "mlx5_3"}), pool("rdma.io/hca", {"mlx5_0"})}, node);
  container.annotation(kHca, "").annotation("allocation.railhead.io/example.com/vf",
                                            id_of(table, 2) + "," + id_of(table, 3) + more);
  return test::decide(container, table);
}

TEST(SlotWithoutNodes, beside_one_that_has_some) {
  ContainerBuilder all;
  EXPECT_EQ(with_two_resources(test::seed_node(), all).outcome, Outcome::adjusted);
  ContainerBuilder gone;
  const auto without = with_two_resources(test::seed_node(), gone, ",0000:ff:1f.7");
  EXPECT_EQ(without.outcome, Outcome::refused);
  EXPECT_EQ(without.reason_code, "allocation-gone");
  EXPECT_THAT(without.message, HasSubstr("\"0000:ff:1f.7\" was allocated"));
  node::Node node = test::seed_node();
  node.nics[3].uverbs.clear();
  ContainerBuilder no_uverbs;
  EXPECT_THAT(with_two_resources(node, no_uverbs).message, HasSubstr("mlx5_3 has no uverbs node"));
  node = test::seed_node();
  node.nics[0].uverbs.clear();
  ContainerBuilder no_shared;
  EXPECT_THAT(with_two_resources(node, no_shared).message, HasSubstr("mlx5_0 has no uverbs node"));
}

TEST(SlotWithoutNodes, beside_a_function_where_rdma_is_exclusive) {
  node::Node node = test::seed_node();
  node.rdma_netns = node::RdmaNetns::exclusive;
  ContainerBuilder own;
  const auto decision = with_two_resources(node, own.own_network());
  EXPECT_EQ(decision.outcome, Outcome::refused);
  EXPECT_EQ(decision.reason_code, "rdma-netns-exclusive");
  ContainerBuilder host;
  EXPECT_EQ(with_two_resources(node, host).outcome, Outcome::adjusted);
}

TEST(SlotWithoutNodes, beside_devices_from_elsewhere) {
  const auto table = table_with({exclusive("example.com/vf", {"mlx5_0"})});
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/example.com/vf", "0000:ff:1f.7");
  container.device("/dev/infiniband/uverbs3", 231, 195);
  EXPECT_EQ(test::decide(container, table).outcome, Outcome::refused);
}

TEST(SlotWithoutNodes, is_what_opting_out_asks_for) {
  ContainerBuilder container;
  container.pod_annotation("rdma.railhead.io/pod", "none");
  EXPECT_EQ(with_a_slot(test::seed_node(), container).outcome, Outcome::untouched);
}

TEST(SlotWithoutNodes, is_all_that_a_function_without_rdma_promises) {
  auto spec = exclusive("intel.com/vf", {"mlx5_0"});
  spec.include[0].rdma = false;
  const auto table = table_with({spec});
  ContainerBuilder container;
  container.annotation("allocation.railhead.io/intel.com/vf", id_of(table, 0));
  EXPECT_EQ(test::decide(container, table).outcome, Outcome::untouched);
}

TEST(ExclusiveResource, a_device_already_in_the_pods_namespace_comes_with_its_nodes) {
  node::Node node = test::seed_node();
  node.nics[0].elsewhere = true;
  node.nics[0].ports.clear();
  node.rdma_netns = node::RdmaNetns::exclusive;
  const auto table = table_with({exclusive("rdma.io/hca", {"mlx5_0"})}, node);
  ContainerBuilder container;
  container.annotation(kHca, id_of(table, 0))
      .pod_annotation("rdma.railhead.io/container.main", "required");
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.outcome, Outcome::adjusted) << decision.message;
  EXPECT_THAT(test::paths(decision.adjustment), Contains("/dev/infiniband/uverbs0"));
}

TEST(ExclusiveResource, an_idle_function_meets_what_is_required) {
  node::Node node = test::seed_node();
  for (auto& port : node.nics[0].ports) {
    port.state = node::PortState::down;
    port.link_layer = node::LinkLayer::ethernet;
  }
  node.nics[0].netdevs.clear();
  const auto table = table_with({exclusive("rdma.io/hca", {"mlx5_0"})}, node);
  ContainerBuilder container;
  container.annotation(kHca, id_of(table, 0))
      .pod_annotation("rdma.railhead.io/container.main", "required");
  EXPECT_EQ(test::decide(container, table).outcome, Outcome::adjusted);
}

}  // namespace
}  // namespace railhead::inject
