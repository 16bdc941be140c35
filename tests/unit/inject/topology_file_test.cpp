// SPDX-License-Identifier: Apache-2.0
#include "inject/topology_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"
#include "unit/node/hosts.h"

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

constexpr const char* kPath = "/run/railhead/nccl-topology.xml";

InjectionPolicy with_file() {
  InjectionPolicy policy;
  policy.topology_file = kPath;
  return policy;
}

/// A virtual machine of which the table knows what its PCI tree hides.
DecisionTable azure(InjectionPolicy policy = with_file()) {
  return test::table_of(test::machine("azure-nd-a100-v4"), std::move(policy));
}

container::Adjustment adjustment_of(ContainerBuilder& container, const DecisionTable& table) {
  return test::decide(container, table).adjustment;
}

TEST(TopologyFile, is_given_where_the_machine_hides_its_switches) {
  const auto table = azure();
  ASSERT_TRUE(table.topology_file());
  EXPECT_EQ(table.topology_file()->path, kPath);
  EXPECT_THAT(table.topology_file()->text, HasSubstr("0001:00:00.0"));
  ContainerBuilder container;
  container.nvidia(0);
  const auto adjustment = adjustment_of(container, table);
  EXPECT_THAT(adjustment.mounts, ElementsAre(container::NewMount{kPath, kPath}));
  EXPECT_THAT(adjustment.env, Contains(Pair("NCCL_TOPO_FILE", kPath)));
}

TEST(TopologyFile, what_is_given_leads_to_the_same_answer_when_it_is_read) {
  const auto table = azure();
  const auto file = topology::parse_nccl_topology(table.topology_file()->text, "test");
  ASSERT_TRUE(file) << file.error().message;
  const DecisionTable again(test::machine("azure-nd-a100-v4"), {}, {}, *file);
  EXPECT_EQ(again.topology().source, topology::TopologySource::topology_file);
  EXPECT_EQ(again.topology().gpu_nic, table.topology().gpu_nic);
}

TEST(TopologyFile, is_not_given_where_sysfs_shows_the_switches) {
  const auto table = test::table_of(test::seed_node(), with_file());
  EXPECT_FALSE(table.topology_file());
  ContainerBuilder container;
  container.nvidia(0);
  EXPECT_THAT(adjustment_of(container, table).mounts, IsEmpty());
}

TEST(TopologyFile, is_not_given_where_nothing_better_than_numa_nodes_is_known) {
  node::Node node = test::machine("azure-nd-a100-v4");
  node.dmi.chassis_asset_tag.reset();
  const auto table = test::table_of(node, with_file());
  EXPECT_EQ(table.topology().source, topology::TopologySource::numa);
  EXPECT_FALSE(table.topology_file());
}

TEST(TopologyFile, is_not_given_without_a_path) {
  EXPECT_FALSE(azure({}).topology_file());
}

TEST(TopologyFile, never_takes_the_place_of_the_users_own) {
  const auto table = azure();
  for (const char* own : {"NCCL_TOPO_FILE=/mine.xml", "NCCL_TOPO_FILE="}) {
    ContainerBuilder container;
    container.nvidia(0).env(own);
    const auto adjustment = adjustment_of(container, table);
    EXPECT_THAT(adjustment.mounts, IsEmpty()) << own;
    EXPECT_THAT(adjustment.env, Not(Contains(Key("NCCL_TOPO_FILE")))) << own;
    EXPECT_THAT(adjustment.devices, Not(IsEmpty())) << own;
  }
  for (const char* place : {"/etc/nccl.conf", "/var/run/nvidia-topologyd",
                            "/run/nvidia-topologyd/virtualTopology.xml", kPath}) {
    ContainerBuilder container;
    container.nvidia(0).mount(place, "/somewhere");
    const auto adjustment = adjustment_of(container, table);
    EXPECT_THAT(adjustment.mounts, IsEmpty()) << place;
    EXPECT_THAT(adjustment.env, Not(Contains(Key("NCCL_TOPO_FILE")))) << place;
  }
  ContainerBuilder other;
  other.nvidia(0).mount("/etc", "/somewhere");
  EXPECT_THAT(adjustment_of(other, table).mounts, Not(IsEmpty()));
}

TEST(TopologyFile, is_for_containers_that_get_nics) {
  const auto table = azure();
  ContainerBuilder plain;
  EXPECT_THAT(adjustment_of(plain, table).mounts, IsEmpty());
  ContainerBuilder privileged;
  privileged.nvidia(0).privileged();
  EXPECT_THAT(adjustment_of(privileged, table).mounts, IsEmpty());
}

TEST(TopologyFile, that_is_not_there_is_neither_given_nor_named) {
  const auto table = azure();
  ContainerBuilder container;
  container.nvidia(0);
  auto runtime = test::able();
  runtime.has_topology_file = false;
  const auto decision = test::decide(container, table, runtime);
  EXPECT_THAT(decision.adjustment.mounts, IsEmpty());
  EXPECT_THAT(decision.adjustment.env, ElementsAre(Key("NCCL_IB_HCA")));
  EXPECT_THAT(decision.adjustment.devices, Not(IsEmpty()));
  EXPECT_THAT(decision.message, Not(HasSubstr("NCCL_TOPO_FILE")));
}

}  // namespace
}  // namespace railhead::inject
