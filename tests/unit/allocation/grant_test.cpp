// SPDX-License-Identifier: Apache-2.0
#include "allocation/grant.h"

#include <gmock/gmock.h>

#include "unit/inject/pool_specs.h"

namespace railhead::allocation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using test::driver_pool;
using test::exclusive_pool;
using test::shared_pool;

/// The seed's machine with one pool.
class GrantTest : public testing::Test {
 protected:
  void use(pools::PoolSpec spec) { table_.emplace(test::seed_with({std::move(spec)})); }

  [[nodiscard]] std::string address(std::size_t nic) const {
    return table_->node().nics[nic].pci->str();
  }

  [[nodiscard]] std::string node_of(std::size_t nic) const {
    return table_->node().nics[nic].uverbs.front().path;
  }

  kubelet::Grant grant(const std::vector<std::string>& ids,
                       config::HandOut hand_out = config::HandOut::nri) {
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

  std::optional<inject::DecisionTable> table_;
};

TEST_F(GrantTest, with_nri_the_answer_is_the_allocation_and_nothing_else) {
  use(shared_pool("rdma.io/hca", {"mlx5_1", "mlx5_2"}));
  const auto given = grant({"rdma-7"});
  EXPECT_THAT(given.annotations, ElementsAre(Pair("allocation.railhead.io/rdma.io/hca",
                                                  address(1) + "," + address(2))));
  EXPECT_THAT(given.env, IsEmpty());
  EXPECT_THAT(given.devices, IsEmpty());
  EXPECT_THAT(given.cdi_devices, IsEmpty());
}

TEST_F(GrantTest, a_slot_that_is_a_nic_names_that_nic_once) {
  auto spec = shared_pool("rdma.io/rail", {"*"});
  spec.slots_per_nic = 4;
  use(std::move(spec));
  const auto given = grant({address(2) + "-0", address(2) + "-3"});
  EXPECT_THAT(given.annotations,
              ElementsAre(Pair("allocation.railhead.io/rdma.io/rail", address(2))));
}

TEST_F(GrantTest, without_nri_the_kubelet_gets_the_nodes) {
  use(exclusive_pool("example.com/nic", {"*"}));
  const auto given = grant({address(3)}, config::HandOut::device_specs);
  EXPECT_THAT(paths(given), UnorderedElementsAre(node_of(3), "/dev/infiniband/rdma_cm"));
  EXPECT_THAT(given.annotations, IsEmpty());
}

TEST_F(GrantTest, without_nri_several_functions_bring_each_node_once) {
  use(exclusive_pool("example.com/nic", {"*"}));
  const auto given = grant({address(3), address(1), address(3)}, config::HandOut::device_specs);
  EXPECT_THAT(paths(given), ElementsAre(node_of(1), node_of(3), "/dev/infiniband/rdma_cm"));
  EXPECT_THAT(given.cdi_devices, IsEmpty());
}

TEST_F(GrantTest, a_pool_that_is_not_about_rdma_hands_out_no_rdma_node) {
  auto spec = exclusive_pool("example.com/net", {"*"});
  spec.include[0].rdma = false;
  use(std::move(spec));
  EXPECT_THAT(paths(grant({address(3)}, config::HandOut::device_specs)), IsEmpty());
}

TEST_F(GrantTest, with_cdi_the_answer_is_names_and_no_node_twice) {
  use(exclusive_pool("example.com/nic", {"*"}));
  const auto given = grant({address(3), address(1)}, config::HandOut::cdi);
  EXPECT_THAT(given.cdi_devices, ElementsAre("railhead.io/resource=example.com:nic:" + address(1),
                                             "railhead.io/resource=example.com:nic:" + address(3)));
  EXPECT_THAT(given.devices, IsEmpty());
  EXPECT_THAT(given.annotations, IsEmpty());
}

TEST_F(GrantTest, with_cdi_slots_that_are_no_nics_are_one_name) {
  use(shared_pool("rdma/hca_shared_devices_a", {"*"}));
  EXPECT_THAT(grant({"1", "7"}, config::HandOut::cdi).cdi_devices,
              ElementsAre("railhead.io/resource=rdma:hca_shared_devices_a"));
}

TEST_F(GrantTest, with_cdi_the_variables_stand_in_the_answer) {
  auto spec = exclusive_pool("intel.com/vf", {"*"});
  spec.origin.flavour = pools::PoolFlavour::sriov_plugin;
  use(std::move(spec));
  EXPECT_EQ(grant({address(2)}, config::HandOut::cdi).env.at("PCIDEVICE_INTEL_COM_VF"), address(2));
}

TEST_F(GrantTest, without_nri_a_fungible_slot_is_the_whole_pool) {
  use(shared_pool("rdma/hca_shared_devices_a", {"mlx5_0", "mlx5_1"}));
  EXPECT_THAT(paths(grant({"0"}, config::HandOut::device_specs)),
              UnorderedElementsAre(node_of(0), node_of(1), "/dev/infiniband/rdma_cm"));
}

TEST_F(GrantTest, a_nic_that_has_gone_is_named) {
  use(exclusive_pool("example.com/nic", {"mlx5_0"}));
  const auto given = grant_of(*table_, 0, {"0000:ff:00.0"}, config::HandOut::nri);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().message,
            "\"0000:ff:00.0\" of example.com/nic is not on this node any more");
}

TEST_F(GrantTest, a_function_that_left_the_pool_is_refused_with_the_reason) {
  use(exclusive_pool("example.com/nic", {"mlx5_0"}));
  const auto given = grant_of(*table_, 0, {address(1)}, config::HandOut::nri);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().message, "\"" + address(1) +
                                       "\" of example.com/nic is not in it any more: rdma: mlx5_1 "
                                       "is not mlx5_0");
}

/// The seed's machine with mlx5_0, which an exclusive pool has, in another network namespace.
class GrantOfMoved : public GrantTest {
 protected:
  void use_moved(bool with_nodes) {
    node::Node node = test::seed_node();
    node.nics[0].elsewhere = true;
    if (!with_nodes) node.nics[0].uverbs.clear();
    inject::InjectionPolicy policy;
    policy.pools = {exclusive_pool("example.com/nic", {"mlx5_0"})};
    table_.emplace(test::table_of(node, policy));
  }
};

TEST_F(GrantOfMoved, its_nodes_are_handed_out) {
  use_moved(true);
  EXPECT_TRUE(members_held(*table_, 0, {address(0)}));
  EXPECT_THAT(paths(grant({address(0)}, config::HandOut::device_specs)),
              testing::Contains(node_of(0)));
}

TEST_F(GrantOfMoved, without_nodes_it_is_refused_by_name) {
  use_moved(false);
  const auto held = members_held(*table_, 0, {address(0)});
  ASSERT_FALSE(held);
  EXPECT_THAT(held.error().message, HasSubstr("\"" + address(0) +
                                              "\" of example.com/nic is on its "
                                              "way into another network namespace"));
}

TEST_F(GrantTest, without_nri_a_function_whose_nodes_are_not_there_is_refused) {
  node::Node node = test::seed_node();
  node.nics[1].uverbs.clear();
  inject::InjectionPolicy policy;
  policy.pools = {exclusive_pool("example.com/nic", {"mlx5_0", "mlx5_1"})};
  table_.emplace(test::table_of(node, policy));
  for (const auto hand_out : {config::HandOut::device_specs, config::HandOut::cdi}) {
    EXPECT_TRUE(grant_of(*table_, 0, {address(0)}, hand_out));
    const auto given = grant_of(*table_, 0, {address(0), address(1)}, hand_out);
    ASSERT_FALSE(given);
    EXPECT_THAT(given.error().message,
                HasSubstr("\"" + address(1) + "\" of example.com/nic has no uverbs node"));
  }
  EXPECT_TRUE(grant_of(*table_, 0, {address(1)}, config::HandOut::nri))
      << "they may come until then";
}

TEST_F(GrantTest, a_pool_without_nics_admits_nobody) {
  use(shared_pool("rdma.io/hca", {"nothing"}));
  const auto given = grant_of(*table_, 0, {"rdma-0"}, config::HandOut::nri);
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().message, "no NIC of this node is in rdma.io/hca");
}

TEST_F(GrantTest, the_sriov_plugins_pods_find_their_variables) {
  auto spec = exclusive_pool("intel.com/mlnx_vf-a", {"*"});
  spec.origin.flavour = pools::PoolFlavour::sriov_plugin;
  spec.additional_info = {{"*", {{"rail", "any"}, {"zone", "b"}}}};
  use(spec);
  spec.additional_info[address(1)] = {{"rail", "1"}};
  use(spec);
  const auto given = grant({address(1)});
  const std::string json =
      R"({")" + address(1) + R"(":{"extra":{"rail":"1","zone":"b"},)" +
      R"("generic":{"deviceID":")" + address(1) +
      R"("},"rdma":{"rdma_cm":"/dev/infiniband/rdma_cm","rdma_dev":"mlx5_1",)" + R"("uverbs":")" +
      node_of(1) + R"("}}})";
  EXPECT_THAT(given.env, ElementsAre(Pair("PCIDEVICE_INTEL_COM_MLNX_VF-A", address(1)),
                                     Pair("PCIDEVICE_INTEL_COM_MLNX_VF-A_INFO", json)));
}

TEST_F(GrantTest, our_exclusive_pools_have_the_same_variables_and_slots_none) {
  auto spec = exclusive_pool("example.com/vf", {"*"});
  spec.additional_info = {{"*", {{"rail", "any"}}}};
  use(spec);
  const auto given = grant({address(1)});
  EXPECT_EQ(given.env.at("PCIDEVICE_EXAMPLE_COM_VF"), address(1));
  EXPECT_THAT(given.env.at("PCIDEVICE_EXAMPLE_COM_VF_INFO"),
              HasSubstr(R"("extra":{"rail":"any"})"));
  use(shared_pool("example.com/vf", {"*"}));
  EXPECT_THAT(grant({"0"}).env, IsEmpty());
}

TEST_F(GrantTest, several_functions_are_one_list) {
  auto spec = exclusive_pool("intel.com/vf", {"*"});
  spec.origin.flavour = pools::PoolFlavour::sriov_plugin;
  use(std::move(spec));
  const auto given = grant({address(2), address(0)});
  EXPECT_EQ(given.env.at("PCIDEVICE_INTEL_COM_VF"), address(0) + "," + address(2));
}

TEST_F(GrantTest, vhost_nodes_come_along_where_the_selector_asks_for_them) {
  auto spec = exclusive_pool("intel.com/vf", {"*"});
  spec.origin.flavour = pools::PoolFlavour::sriov_plugin;
  spec.include[0].vhost_net = true;
  use(std::move(spec));
  const auto given = grant({address(0)});
  EXPECT_THAT(paths(given), ElementsAre("/dev/vhost-net", "/dev/net/tun"));
  EXPECT_THAT(given.env.at("PCIDEVICE_INTEL_COM_VF_INFO"),
              HasSubstr(R"("vhost":{"net-mount":"/dev/vhost-net","tun-mount":"/dev/net/tun"})"));
}

TEST_F(GrantTest, k8s_rdma_device_plugins_pods_find_their_variables) {
  auto spec = shared_pool("rdma.io/hca", {"*"});
  spec.origin.flavour = pools::PoolFlavour::k8s_rdma_device_plugin;
  use(std::move(spec));
  EXPECT_THAT(grant({"rdma-1", "rdma-2"}).env,
              ElementsAre(Pair("RDMA_ALLOCATED", "2"), Pair("RDMA_RESOURCE", "rdma.io/hca")));
}

TEST_F(GrantTest, a_vfio_function_brings_its_group_by_nri_or_here) {
  table_.emplace(test::vfio_with(driver_pool("intel.com/dpdk", "vfio-pci")));
  for (const auto hand_out : {config::HandOut::nri, config::HandOut::device_specs}) {
    const auto given = grant({"0000:11:01.1", "0000:11:01.0"}, hand_out);
    if (hand_out == config::HandOut::nri) {
      EXPECT_THAT(given.devices, IsEmpty()) << "the kubelet would repeat the groups for ever";
      EXPECT_THAT(given.annotations, ElementsAre(Pair("allocation.railhead.io/intel.com/dpdk",
                                                      "0000:11:01.0,0000:11:01.1")));
    } else {
      EXPECT_THAT(paths(given), ElementsAre("/dev/vfio/vfio", "/dev/vfio/26", "/dev/vfio/27"));
    }
    const auto& info = given.env.at("PCIDEVICE_INTEL_COM_DPDK_INFO");
    EXPECT_THAT(info, HasSubstr(R"("vfio":{"dev-mount":"/dev/vfio/26","mount":"/dev/vfio/vfio"})"));
    EXPECT_THAT(info, HasSubstr(R"("dev-mount":"/dev/vfio/27")"));
  }
}

TEST_F(GrantTest, functions_of_one_iommu_group_share_its_node) {
  auto node = test::vfio_node();
  for (auto& device : node.pci) device.iommu_group = 26;
  table_.emplace(test::vfio_with(driver_pool("intel.com/dpdk", "vfio-pci"), std::move(node)));
  EXPECT_THAT(paths(grant({"0000:11:01.1", "0000:11:01.0"}, config::HandOut::device_specs)),
              ElementsAre("/dev/vfio/vfio", "/dev/vfio/26"));
}

TEST_F(GrantTest, without_an_iommu_the_host_has_another_name_for_the_node) {
  auto node = test::vfio_node();
  for (auto& device : node.pci) device.no_iommu = true;
  table_.emplace(test::vfio_with(driver_pool("intel.com/dpdk", "vfio-pci"), std::move(node)));
  const auto given = grant({"0000:11:01.0"}, config::HandOut::device_specs);
  ASSERT_EQ(given.devices.size(), 2U);
  EXPECT_EQ(given.devices[1].host_path, "/dev/vfio/noiommu-26");
  EXPECT_EQ(given.devices[1].container_path, "/dev/vfio/26");
}

TEST_F(GrantTest, a_vfio_function_without_a_group_is_refused_with_the_reason) {
  auto node = test::vfio_node();
  for (auto& device : node.pci) device.iommu_group.reset();
  table_.emplace(test::vfio_with(driver_pool("intel.com/dpdk", "vfio-pci"), std::move(node)));
  for (const auto hand_out :
       {config::HandOut::nri, config::HandOut::device_specs, config::HandOut::cdi}) {
    const auto given = grant_of(*table_, 0, {"0000:11:01.0"}, hand_out);
    ASSERT_FALSE(given);
    EXPECT_THAT(given.error().message, HasSubstr("has no IOMMU group"));
  }
}

TEST_F(GrantTest, a_group_that_nri_could_not_give_is_refused) {
  auto node = test::vfio_node();
  node.function_devices.pop_back();
  table_.emplace(test::vfio_with(driver_pool("intel.com/dpdk", "vfio-pci"), std::move(node)));
  grant({"0000:11:01.0"});
  const auto refused = grant_of(*table_, 0, {"0000:11:01.1"}, config::HandOut::nri);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "/dev/vfio/27, which intel.com/dpdk hands out, is not on this node");
}

TEST_F(GrantTest, a_vhost_function_brings_its_node_by_nri_or_here) {
  table_.emplace(test::vfio_with(test::vdpa_pool("nvidia.com/vhost", "vhost"), test::vdpa_node()));
  for (const auto hand_out : {config::HandOut::nri, config::HandOut::device_specs}) {
    const auto given = grant({"0000:11:01.0"}, hand_out);
    const bool here = hand_out == config::HandOut::device_specs;
    EXPECT_EQ(paths(given),
              here ? std::vector<std::string>{"/dev/vhost-vdpa-7"} : std::vector<std::string>());
    EXPECT_EQ(given.env.at("PCIDEVICE_NVIDIA_COM_VHOST_INFO"),
              R"({"0000:11:01.0":{"generic":{"deviceID":"0000:11:01.0"},)"
              R"("vdpa":{"mount":"/dev/vhost-vdpa-7"}}})");
  }
  EXPECT_THAT(grant({"0000:11:01.0"}, config::HandOut::cdi).cdi_devices,
              ElementsAre("railhead.io/resource=nvidia.com:vhost:0000:11:01.0"));
}

TEST_F(GrantTest, one_of_vdpa_type_virtio_brings_no_node) {
  table_.emplace(
      test::vfio_with(test::vdpa_pool("nvidia.com/virtio", "virtio"), test::vdpa_node()));
  for (const auto hand_out :
       {config::HandOut::nri, config::HandOut::device_specs, config::HandOut::cdi}) {
    const auto given = grant({"0000:11:01.1"}, hand_out);
    EXPECT_THAT(paths(given), IsEmpty());
    EXPECT_THAT(given.cdi_devices, IsEmpty());
    EXPECT_THAT(given.env.at("PCIDEVICE_NVIDIA_COM_VIRTIO_INFO"), HasSubstr(R"("vdpa":{})"));
  }
}

TEST_F(GrantTest, a_vdpa_device_that_no_selector_asked_for_is_not_handed_out) {
  table_.emplace(test::vfio_with(driver_pool("nvidia.com/vf", "mlx5_core"), test::vdpa_node()));
  const auto given = grant({"0000:11:01.0"});
  EXPECT_THAT(paths(given), IsEmpty());
  EXPECT_EQ(given.env.at("PCIDEVICE_NVIDIA_COM_VF_INFO").find("vdpa"), std::string::npos);
}

TEST_F(GrantTest, a_vhost_device_without_its_node_is_refused_with_the_reason) {
  auto node = test::vdpa_node();
  for (auto& device : node.pci) {
    for (auto& vdpa : device.vdpa) vdpa.vhost_number.reset();
  }
  table_.emplace(test::vfio_with(test::vdpa_pool("nvidia.com/vhost", "vhost"), std::move(node)));
  for (const auto hand_out :
       {config::HandOut::nri, config::HandOut::device_specs, config::HandOut::cdi}) {
    const auto given = grant_of(*table_, 0, {"0000:11:01.0"}, hand_out);
    ASSERT_FALSE(given);
    EXPECT_EQ(given.error().message,
              "0000:11:01.0 of nvidia.com/vhost has the vDPA device vdpa0, which vhost_vdpa gives "
              "no /dev/vhost-vdpa-<number>");
  }
}

TEST_F(GrantTest, additional_info_that_is_no_utf8_ends_nobody) {
  auto spec = exclusive_pool("example.com/nic", {"mlx5_1"});
  spec.additional_info = {{"*", {{"zone", "a\xff"}}}};
  use(spec);
  EXPECT_THAT(grant({address(1)}).env.at("PCIDEVICE_EXAMPLE_COM_NIC_INFO"),
              HasSubstr("\"zone\":\"a\xef\xbf\xbd\""));
}

TEST_F(GrantTest, a_sub_function_has_the_additional_info_of_its_pf_address) {
  auto node = test::seed_node();
  node.nics[1].sub_function = "mlx5_core.sf.4";
  auto spec = exclusive_pool("nvidia.com/sf", {"mlx5_1"});
  spec.kinds = {pools::FunctionKind::scalable};
  spec.origin.flavour = pools::PoolFlavour::sriov_plugin;
  spec.additional_info = {{node.nics[1].pci->str(), {{"rail", "1"}}}};
  table_.emplace(test::vfio_with(std::move(spec), std::move(node)));
  EXPECT_THAT(grant({"mlx5_core.sf.4"}).env.at("PCIDEVICE_NVIDIA_COM_SF_INFO"),
              HasSubstr(R"("extra":{"rail":"1"})"));
}

}  // namespace
}  // namespace railhead::allocation
