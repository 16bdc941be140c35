// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using testing::ElementsAre;

Texts ids(const std::vector<pools::NetFunction>& functions) {
  Texts found;
  for (const auto& function : functions) found.push_back(function.id);
  return found;
}

TEST(Functions, virtual_functions_are_numbered_in_order_of_address) {
  const auto functions = pools::functions_of(vf_server());
  ASSERT_EQ(functions.size(), 10U);
  EXPECT_EQ(functions[0].id, "0000:11:00.0");
  EXPECT_EQ(functions[0].kind, pools::FunctionKind::physical);
  EXPECT_EQ(functions[0].index, std::nullopt);
  for (unsigned i = 0; i < 8; ++i) {
    const auto& function = functions[1 + i];
    EXPECT_EQ(function.id, "0000:11:01." + std::to_string(i));
    EXPECT_EQ(function.kind, pools::FunctionKind::virtual_);
    EXPECT_EQ(function.parent, functions[0].pci);
    EXPECT_EQ(function.index, i);
    EXPECT_EQ(function.nics.size(), 1U);
  }
}

TEST(Functions, one_that_is_missing_renumbers_no_other) {
  auto node = vf_server();
  std::erase_if(node.pci, [](const node::PciDevice& device) {
    return device.address.str() == "0000:11:01.3";
  });
  std::erase_if(node.nics, [](const node::Nic& nic) { return nic.pci->str() == "0000:11:01.3"; });
  const auto functions = pools::functions_of(node);
  ASSERT_EQ(functions.size(), 9U);
  EXPECT_EQ(functions[3].index, 2U);
  EXPECT_EQ(functions[4].index, 4U);
}

TEST(Functions, a_network_function_without_rdma_is_one_with_its_interfaces) {
  NodeBuilder b;
  const auto root = b.host_bridge(0x10, 0);
  b.nic(b.bridge(root)).netdev("ens1");
  auto node = b.build();
  node.nics.clear();
  const auto functions = pools::functions_of(node);
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_TRUE(functions[0].nics.empty());
  EXPECT_EQ(functions[0].netdevs, Texts{"ens1"});
}

TEST(Functions, a_scalable_function_is_its_own_below_its_physical_function) {
  NodeBuilder b;
  const auto root = b.host_bridge(0x10, 1);
  b.nic(b.bridge(root)).ethernet(200).name("mlx5_0").netdev("ens1");
  node::Nic scalable = b.raw().nics.front();
  scalable.name = "mlx5_7";
  scalable.sub_function = "mlx5_core.sf.4";
  scalable.sf_number = 88;
  scalable.netdevs = {"ens1s88"};
  b.raw().nics.push_back(scalable);
  const auto functions = pools::functions_of(b.build());
  ASSERT_EQ(ids(functions), (Texts{"0000:11:00.0", "mlx5_core.sf.4"}));
  EXPECT_EQ(functions[0].nics.size(), 1U);
  EXPECT_EQ(functions[0].netdevs, Texts{"ens1"});
  EXPECT_EQ(functions[1].kind, pools::FunctionKind::scalable);
  EXPECT_EQ(functions[1].index, 88U);
  EXPECT_EQ(functions[1].parent, functions[0].pci);
  EXPECT_EQ(functions[1].numa_node, 1);
}

TEST(Functions, several_rdma_devices_of_one_function_are_one) {
  NodeBuilder b;
  b.nic(b.bridge(b.host_bridge(0x10, 0))).name("mlx5_0");
  node::Nic other = b.raw().nics.front();
  other.name = "mlx5_1";
  b.raw().nics.push_back(other);
  const auto functions = pools::functions_of(b.build());
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_THAT(functions[0].nics, ElementsAre(0, 1));
}

TEST(Functions, soft_devices_come_last_under_their_own_name) {
  NodeBuilder b;
  b.soft_nic("rxe0", "eth0");
  b.nic(b.bridge(b.host_bridge(0x10, 0)));
  const auto functions = pools::functions_of(b.build());
  ASSERT_EQ(ids(functions), (Texts{"0000:11:00.0", "rxe0"}));
  EXPECT_EQ(functions[1].kind, pools::FunctionKind::soft);
  EXPECT_EQ(functions[1].pci, std::nullopt);
}

}  // namespace
}  // namespace railhead::test
