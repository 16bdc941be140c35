// SPDX-License-Identifier: Apache-2.0
#include "inject/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Environment, nccl_gets_the_exact_names_and_ports) {
  ContainerBuilder container;
  const auto table = test::table_of(test::seed_node());
  EXPECT_THAT(environment_for(container.request(), table, {0, 3}, {}),
              ElementsAre(Pair("NCCL_IB_HCA", "=mlx5_0:1,mlx5_3:1")));
}

TEST(Environment, only_active_ports_are_named) {
  node::Node node = test::seed_node();
  node::Port second = node.nics[0].ports[0];
  second.number = 2;
  node.nics[0].ports[0].state = node::PortState::init;
  node.nics[0].ports.push_back(second);
  test::set_down(node, 1);
  ContainerBuilder container;
  const auto table = test::table_of(node);
  EXPECT_THAT(environment_for(container.request(), table, {0, 1}, {}),
              ElementsAre(Pair("NCCL_IB_HCA", "=mlx5_0:2")));
  EXPECT_THAT(environment_for(container.request(), table, {1}, {}), IsEmpty());
}

TEST(Environment, what_the_user_has_set_stays_even_if_empty) {
  const auto table = test::table_of(test::seed_node());
  for (const char* mine : {"NCCL_IB_HCA=mlx5_9", "NCCL_IB_HCA=", "NCCL_IB_HCA"}) {
    ContainerBuilder container;
    container.env(mine);
    EXPECT_THAT(environment_for(container.request(), table, {0}, {}), IsEmpty()) << mine;
  }
  ContainerBuilder other;
  other.env("NCCL_IB_HCA_X=1");
  EXPECT_THAT(environment_for(other.request(), table, {0}, {}), ::testing::SizeIs(1));
}

TEST(Environment, ucx_and_nvshmem_are_set_by_configuration_only) {
  InjectionPolicy policy;
  policy.ucx_env = true;
  policy.nvshmem_env = true;
  const auto table = test::table_of(test::seed_node(), policy);
  ContainerBuilder container;
  EXPECT_THAT(environment_for(container.request(), table, {0, 2}, {}),
              ElementsAre(Pair("NCCL_IB_HCA", "=mlx5_0:1,mlx5_2:1"),
                          Pair("UCX_NET_DEVICES", "mlx5_0:1,mlx5_2:1"),
                          Pair("NVSHMEM_ENABLE_NIC_PE_MAPPING", "1"),
                          Pair("NVSHMEM_HCA_LIST", "mlx5_0:1,mlx5_2:1")));
}

TEST(Environment, nvshmem_maps_processes_to_the_nics_of_their_gpus) {
  InjectionPolicy policy;
  policy.nvshmem_env = true;
  const auto table = test::table_of(test::seed_node(), policy);
  ContainerBuilder container;
  container.nvidia(0).nvidia(1).nvidia(4);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(test::variable(decision.adjustment, "NVSHMEM_HCA_PE_MAPPING"), "mlx5_0:1:2,mlx5_2:1:1");
  EXPECT_EQ(test::variable(decision.adjustment, "NVSHMEM_ENABLE_NIC_PE_MAPPING"), "1");
}

TEST(Environment, nvshmems_variables_go_together_or_not_at_all) {
  InjectionPolicy policy;
  policy.nvshmem_env = true;
  const auto table = test::table_of(test::seed_node(), policy);
  for (const char* mine :
       {"NVSHMEM_HCA_LIST=x", "NVSHMEM_HCA_PE_MAPPING=", "NVSHMEM_ENABLE_NIC_PE_MAPPING=0"}) {
    ContainerBuilder container;
    container.env(mine);
    EXPECT_THAT(environment_for(container.request(), table, {0}, {}),
                ElementsAre(Pair("NCCL_IB_HCA", "=mlx5_0:1")))
        << mine;
  }
}

}  // namespace
}  // namespace railhead::inject
