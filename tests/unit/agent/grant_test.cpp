// SPDX-License-Identifier: Apache-2.0
#include "agent/grant.h"

#include <gmock/gmock.h>

#include "unit/inject/container_builder.h"

namespace railhead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

PoolSpec pool(std::string name, std::vector<std::string> nics) {
  PoolSpec spec;
  spec.name = std::move(name);
  spec.slots = 100;
  spec.kinds = {FunctionKind::physical};
  spec.include = {{{{Fact::rdma_name, "rdma", std::move(nics), Match::glob, {}}}, true, false}};
  return spec;
}

PoolSpec exclusive(std::string name, std::vector<std::string> nics) {
  PoolSpec spec = pool(std::move(name), std::move(nics));
  spec.mode = PoolMode::exclusive;
  return spec;
}

/// The seed's machine with one pool.
class GrantTest : public testing::Test {
 protected:
  void use(PoolSpec spec) {
    InjectionPolicy policy;
    policy.pools = {std::move(spec)};
    table_.emplace(test::table_of(test::seed_node(), std::move(policy)));
  }

  [[nodiscard]] std::string address(std::size_t nic) const {
    return table_->node().nics[nic].pci->str();
  }

  [[nodiscard]] std::string node_of(std::size_t nic) const {
    return table_->node().nics[nic].uverbs.front().path;
  }

  kubelet::Grant grant(const std::vector<std::string>& ids, HandOut hand_out = HandOut::nri) {
    auto given = grant_of(*table_, 0, ids, hand_out);
    EXPECT_TRUE(given) << given.error().message;
    return given ? std::move(given).value() : kubelet::Grant{};
  }

  static std::vector<std::string> paths(const kubelet::Grant& grant) {
    std::vector<std::string> all;
    for (const auto& device : grant.devices) {
      EXPECT_EQ(device.host_path, device.container_path);
      EXPECT_EQ(device.permissions, "rw");
      all.push_back(device.host_path);
    }
    return all;
  }

  std::optional<DecisionTable> table_;
};

TEST_F(GrantTest, with_nri_the_answer_is_the_allocation_and_nothing_else) {
  use(pool("rdma.io/hca", {"mlx5_1", "mlx5_2"}));
  const auto given = grant({"rdma-7"});
  EXPECT_THAT(given.annotations, ElementsAre(Pair("allocation.railhead.io/rdma.io/hca",
                                                  address(1) + "," + address(2))));
  EXPECT_THAT(given.env, IsEmpty());
  EXPECT_THAT(given.devices, IsEmpty());
  EXPECT_THAT(given.cdi_devices, IsEmpty());
}

TEST_F(GrantTest, a_slot_that_is_a_nic_names_that_nic_once) {
  auto spec = pool("rdma.io/rail", {"*"});
  spec.slots_per_nic = 4;
  use(std::move(spec));
  const auto given = grant({address(2) + "-0", address(2) + "-3"});
  EXPECT_THAT(given.annotations,
              ElementsAre(Pair("allocation.railhead.io/rdma.io/rail", address(2))));
}

TEST_F(GrantTest, without_nri_the_kubelet_gets_the_nodes) {
  use(exclusive("example.com/nic", {"*"}));
  const auto given = grant({address(3)}, HandOut::device_specs);
  EXPECT_THAT(paths(given), UnorderedElementsAre(node_of(3), "/dev/infiniband/rdma_cm"));
  EXPECT_THAT(given.annotations, IsEmpty());
}

TEST_F(GrantTest, without_nri_a_fungible_slot_is_the_whole_pool) {
  use(pool("rdma/hca_shared_devices_a", {"mlx5_0", "mlx5_1"}));
  EXPECT_THAT(paths(grant({"0"}, HandOut::device_specs)),
              UnorderedElementsAre(node_of(0), node_of(1), "/dev/infiniband/rdma_cm"));
}

TEST_F(GrantTest, a_nic_that_has_gone_is_named) {
  use(exclusive("example.com/nic", {"mlx5_0"}));
  const auto given = grant_of(*table_, 0, {"0000:ff:00.0"}, HandOut::nri);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().message,
            "\"0000:ff:00.0\" of example.com/nic is not on this node any more");
}

TEST_F(GrantTest, a_pool_without_nics_admits_nobody) {
  use(pool("rdma.io/hca", {"nothing"}));
  const auto given = grant_of(*table_, 0, {"rdma-0"}, HandOut::nri);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().message, "no NIC of this node is in rdma.io/hca");
}

TEST_F(GrantTest, the_sriov_plugins_pods_find_their_variables) {
  auto spec = exclusive("intel.com/mlnx_vf-a", {"*"});
  spec.origin.flavour = PoolFlavour::sriov_plugin;
  spec.additional_info = {{"*", {{"rail", "any"}, {"zone", "b"}}}};
  use(spec);
  spec.additional_info[address(1)] = {{"rail", "1"}};
  use(spec);
  const auto given = grant({address(1)});
  const std::string json = R"({")" + address(1) + R"(":{"generic":{"deviceID":")" + address(1) +
                           R"("},"rdma":{"uverbs":")" + node_of(1) +
                           R"(","rdma_cm":"/dev/infiniband/rdma_cm","rdma_dev":"mlx5_1"},)" +
                           R"("extra":{"rail":"1","zone":"b"}}})";
  EXPECT_THAT(given.env, ElementsAre(Pair("PCIDEVICE_INTEL_COM_MLNX_VF-A", address(1)),
                                     Pair("PCIDEVICE_INTEL_COM_MLNX_VF-A_INFO", json)));
}

TEST_F(GrantTest, several_functions_are_one_list) {
  auto spec = exclusive("intel.com/vf", {"*"});
  spec.origin.flavour = PoolFlavour::sriov_plugin;
  use(std::move(spec));
  const auto given = grant({address(2), address(0)});
  EXPECT_EQ(given.env.at("PCIDEVICE_INTEL_COM_VF"), address(0) + "," + address(2));
}

TEST_F(GrantTest, vhost_nodes_come_along_where_the_selector_asks_for_them) {
  auto spec = exclusive("intel.com/vf", {"*"});
  spec.origin.flavour = PoolFlavour::sriov_plugin;
  spec.include[0].vhost_net = true;
  use(std::move(spec));
  const auto given = grant({address(0)});
  EXPECT_THAT(paths(given), ElementsAre("/dev/vhost-net", "/dev/net/tun"));
  EXPECT_THAT(given.env.at("PCIDEVICE_INTEL_COM_VF_INFO"),
              HasSubstr(R"("vhost":{"net-mount":"/dev/vhost-net","tun-mount":"/dev/net/tun"})"));
}

TEST_F(GrantTest, k8s_rdma_device_plugins_pods_find_their_variables) {
  auto spec = pool("rdma.io/hca", {"*"});
  spec.origin.flavour = PoolFlavour::k8s_rdma_device_plugin;
  use(std::move(spec));
  EXPECT_THAT(grant({"rdma-1", "rdma-2"}).env,
              ElementsAre(Pair("RDMA_ALLOCATED", "2"), Pair("RDMA_RESOURCE", "rdma.io/hca")));
}

}  // namespace
}  // namespace railhead
