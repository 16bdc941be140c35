// SPDX-License-Identifier: Apache-2.0
#include "affinity/deal_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/arrange.h"
#include "unit/affinity/dealt.h"
#include "unit/affinity/variations.h"
#include "unit/machines.h"
#include "unit/node/hosts.h"

namespace railhead::affinity {
namespace {

using test::deal_of;
using test::NodeBuilder;
using test::Slot;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two sockets with a GPU and a NIC on a host bridge of their own each, whose NUMA nodes are these.
NodeBuilder far_nics(std::optional<int> gpus, std::optional<int> nics) {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  for (std::uint8_t i = 0; i < 2; ++i) {
    b.gpu(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x10 + 0x40 * i), gpus)));
    b.nic(b.bridge(b.host_bridge(static_cast<std::uint8_t>(0x20 + 0x40 * i), nics)));
  }
  return b;
}

/// The GPUs whose NIC seems missing, of a machine as it is believed.
std::vector<std::size_t> missed(const node::Node& node) {
  const auto arrangement = topology::arrange(node, std::nullopt);
  const auto dealt = deal(arrangement.node, topology::make_topology(arrangement), {});
  std::vector<std::size_t> gpus;
  for (const auto& missing : dealt.missing) {
    gpus.insert(gpus.end(), missing.gpus.begin(), missing.gpus.end());
  }
  return gpus;
}

TEST(MissingNic, is_of_the_gpu_that_it_was_nearest_to) {
  const node::Node node = test::dgx_h100().build();
  const Deal whole = deal_of(node);
  EXPECT_THAT(whole.missing, IsEmpty());
  EXPECT_THAT(whole.warnings, IsEmpty());
  for (std::size_t g = 0; g < whole.gpus.size(); ++g) {
    const auto without = test::without_card(node, whole.gpus[g].nics);
    const Deal result = deal_of(without);
    ASSERT_EQ(result.missing.size(), 1U) << g;
    const auto& missing = result.missing.front();
    EXPECT_THAT(missing.gpus, ElementsAre(g));
    EXPECT_EQ(missing.nics, result.gpus[g].nics);
    EXPECT_EQ(missing.relation, topology::Relation::node);
    EXPECT_EQ(missing.own, topology::Relation::pxb);
    EXPECT_THAT(result.warnings, ElementsAre(missing_nic_text(without, missing)));
  }
}

TEST(MissingNic, several_are_named_and_half_of_all_are_the_machines_way) {
  node::Node node = test::dgx_h100().build();
  std::vector<std::size_t> lost;
  for (std::size_t g = 0; g < 3; ++g) {
    lost.push_back(g);
    node = test::without_card(node, deal_of(node).gpus[g].nics);
    EXPECT_EQ(missed(node), lost);
  }
  EXPECT_THAT(missed(test::without_card(node, deal_of(node).gpus[3].nics)), IsEmpty());
}

TEST(MissingNic, there_is_none_where_all_share) {
  EXPECT_THAT(deal_of(test::eight_gpus_four_nics().build()).warnings, IsEmpty());
}

/// GPU 0 keeps its NIC, and the operator gives it another use.
TEST(MissingNic, there_is_none_where_the_operator_took_it) {
  const node::Node node = test::dgx_h100().build();
  const auto nic = deal_of(node).gpus[0].nics.front();
  OperatorRules rules;
  rules.roles.emplace_back().name_globs = node.nics[nic].name;
  for (const auto role : {Role::storage, Role::management, Role::unused}) {
    rules.roles.front().role = role;
    EXPECT_THAT(deal(node, topology::make_topology(node), rules).missing, IsEmpty());
  }
  rules.roles.clear();
  rules.expect.emplace_back().name_globs = node.nics[nic].name;
  EXPECT_THAT(deal(node, topology::make_topology(node), rules).missing, IsEmpty());
}

TEST(MissingNic, is_found_on_the_machines_that_lost_one_alone) {
  std::map<std::string, std::vector<std::size_t>> found;
  for (const auto& name : test::machine_names()) {
    const auto node = test::machine(name);
    if (const auto gpus = missed(node); !gpus.empty()) found[name] = gpus;
  }
  const std::map<std::string, std::vector<std::size_t>> expected = {
      {"azure-nd-h100-v5-nic-lost", {2}},
      {"dgx-h100-degraded", {5}},
      {"xe9680-roce-nic-lost", {0}}};
  EXPECT_EQ(found, expected);
}

TEST(DealWarnings, machine_of_a_known_type_with_too_few_nics_says_so) {
  const node::Node node = test::dgx_a100().build();
  topology::Topology topology = topology::make_topology(node);
  topology.machine = "Azure ND A100 v4";
  topology.machine_nics = 8;
  EXPECT_THAT(deal(node, topology, {}).warnings, IsEmpty());
  topology.machine_nics = 9;
  EXPECT_THAT(deal(node, topology, {}).warnings,
              ElementsAre("Azure ND A100 v4 has 9 compute NICs, of which 8 are here"));
}

TEST(DealWarnings, unknown_numa_nodes_leave_the_deal_to_chance) {
  for (const auto& node : {far_nics(std::nullopt, std::nullopt).build(),
                           far_nics(std::nullopt, 0).build(), far_nics(0, std::nullopt).build()}) {
    const Deal result = deal_of(node);
    EXPECT_EQ(result.confidence, topology::Confidence::low);
    ASSERT_EQ(result.warnings.size(), 1U);
    EXPECT_THAT(result.warnings[0], HasSubstr("dealt evenly by PCI address"));
    EXPECT_NE(result.gpus[0].nics, result.gpus[1].nics);
  }
}

TEST(DealWarnings, unknown_numa_nodes_are_fine_where_nothing_depends_on_them) {
  EXPECT_EQ(deal_of(far_nics(0, 1).build()).confidence, topology::Confidence::high);
  NodeBuilder one_socket;
  one_socket.numa(0, 0);
  NodeBuilder one_nic;
  one_nic.numa(0, 0).numa(1, 1);
  for (auto* b : {&one_socket, &one_nic}) {
    b->gpu(b->bridge(b->host_bridge(0x10, std::nullopt)));
    b->nic(b->bridge(b->host_bridge(0x20, std::nullopt)));
  }
  one_socket.nic(one_socket.bridge(one_socket.host_bridge(0x30, std::nullopt)));
  for (const auto& node : {one_socket.build(), one_nic.build()}) {
    EXPECT_EQ(deal_of(node).confidence, topology::Confidence::high);
    EXPECT_THAT(deal_of(node).warnings, IsEmpty());
  }
}

TEST(DealWarnings, role_in_doubt_is_one) {
  NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0)));
  b.nic(b.bridge(b.host_bridge(0x30, 0)));
  b.nic(b.bridge(b.host_bridge(0x40, 0))).netdev("ib2").default_route();
  EXPECT_THAT(deal_of(b.build()).warnings,
              ElementsAre("mlx5_2 is management (its netdev ib2 carries the default route), but "
                          "InfiniBand 400 Gb/s, as the compute NICs; if it is one of them, say so "
                          "in roles: of the configuration"));
}

}  // namespace
}  // namespace railhead::affinity
