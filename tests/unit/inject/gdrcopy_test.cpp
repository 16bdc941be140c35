// SPDX-License-Identifier: Apache-2.0
// GDRCopy's node for containers that hold GPUs ("Pod interface").
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;
using ::testing::Contains;
using ::testing::Not;

constexpr const char* kGdrdrvNode = "/dev/gdrdrv";

DecisionTable with_gdrcopy(config::GpuPolicy gpus = config::GpuPolicy::closest,
                           bool is_wanted = true, bool is_loaded = true) {
  auto node = test::seed_node();
  if (is_loaded) node.gdrdrv = node::CharDevice{kGdrdrvNode, 240, 0, 0666, 0, 0, true};
  InjectionPolicy policy;
  policy.gpus = gpus;
  policy.gdrcopy = is_wanted;
  return test::table_of(std::move(node), std::move(policy));
}

std::vector<std::string> given(ContainerBuilder& container, const DecisionTable& table) {
  return test::paths(test::decide(container, table).adjustment);
}

TEST(Gdrcopy, its_node_comes_with_a_gpu_beside_the_nics) {
  ContainerBuilder container;
  container.nvidia(0);
  const auto decision = test::decide(container, with_gdrcopy());
  EXPECT_THAT(decision.adjustment.devices,
              Contains(container::NewDevice{kGdrdrvNode, 240, 0, 0666, 0, 0}));
  EXPECT_THAT(test::paths(decision.adjustment), Contains("/dev/infiniband/rdma_cm"));
}

TEST(Gdrcopy, its_node_comes_where_no_nic_is_due) {
  const auto table = with_gdrcopy(config::GpuPolicy::none);
  ContainerBuilder container;
  container.nvidia(0);
  const auto decision = test::decide(container, table);
  EXPECT_EQ(decision.reason_code, "gpus-off");
  EXPECT_THAT(test::paths(decision.adjustment), ::testing::ElementsAre(kGdrdrvNode));
}

TEST(Gdrcopy, nobody_else_gets_it) {
  ContainerBuilder without_gpu;
  EXPECT_THAT(given(without_gpu, with_gdrcopy()), Not(Contains(kGdrdrvNode)));
  ContainerBuilder by_variable_alone;
  by_variable_alone.env("NVIDIA_VISIBLE_DEVICES=all");
  EXPECT_THAT(given(by_variable_alone, with_gdrcopy()), Not(Contains(kGdrdrvNode)));
  ContainerBuilder privileged;
  privileged.nvidia(0).privileged();
  EXPECT_THAT(given(privileged, with_gdrcopy()), Not(Contains(kGdrdrvNode)));
  ContainerBuilder has_it;
  has_it.nvidia(0).device(kGdrdrvNode, 240, 0);
  EXPECT_THAT(given(has_it, with_gdrcopy()), Not(Contains(kGdrdrvNode)));
}

TEST(Gdrcopy, it_is_a_setting_and_the_module_has_to_be_there) {
  ContainerBuilder container;
  container.nvidia(0);
  const auto closest = config::GpuPolicy::closest;
  EXPECT_THAT(given(container, with_gdrcopy(closest, false)), Not(Contains(kGdrdrvNode)));
  EXPECT_THAT(given(container, with_gdrcopy(closest, true, false)), Not(Contains(kGdrdrvNode)));
}

}  // namespace
}  // namespace railhead::inject
