// SPDX-License-Identifier: Apache-2.0
// What a RoCE pod lacks in a network namespace of its own, and the sentence that names the fix.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inject/container_builder.h"
#include "unit/inject/pool_specs.h"

namespace railhead::inject {
namespace {

using test::ContainerBuilder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNetworks = "k8s.v1.cni.cncf.io/networks";

/// Four Ethernet NICs, the netdev of mlx5_N is ensN.
node::Node machine() {
  node::Node node = test::as_roce(test::seed_node());
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    node::Netdev netdev;
    netdev.name = "ens" + std::to_string(i);
    netdev.pci = node.nics[i].pci;
    node.nics[i].netdevs = {netdev.name};
    node.netdevs.push_back(std::move(netdev));
  }
  return node;
}

std::vector<container::Remark> remarks_on(ContainerBuilder& container, pools::PoolMode mode,
                                          const std::string& nics,
                                          const node::Node& node = machine()) {
  auto spec = test::shared_pool("nvidia.com/hostdev", {nics});
  spec.mode = mode;
  InjectionPolicy policy;
  policy.pools = {spec};
  const auto table = test::table_of(node, policy);
  const bool shared = mode == pools::PoolMode::shared;
  container.annotation("allocation.railhead.io/nvidia.com/hostdev",
                       shared ? "" : table.node().nics[0].pci->str());
  return test::decide(container, table).remarks;
}

std::string only_text(const std::vector<container::Remark>& remarks, const std::string& code) {
  EXPECT_THAT(test::codes(remarks), ElementsAre(code));
  return remarks.empty() ? "" : remarks.front().text;
}

TEST(RoceOfAPool, without_a_network_the_sentence_names_netdev_and_fix) {
  ContainerBuilder pod;
  const auto text = only_text(remarks_on(pod.own_network(), pools::PoolMode::shared, "mlx5_0"),
                              "roce-needs-netdev");
  EXPECT_EQ(text,
            "mlx5_0 is Ethernet, the pod has a network of its own, and no annotation asks for a "
            "netdev of it. RoCE has no address without one there: annotate the pod with "
            "k8s.v1.cni.cncf.io/networks and a network on ens0 (macvlan, ipvlan), or set "
            "hostNetwork");
}

TEST(RoceOfAPool, of_a_bond_the_network_is_on_the_bond) {
  node::Node node = machine();
  node.netdevs[0].master = "bond0";
  ContainerBuilder pod;
  const auto text = only_text(
      remarks_on(pod.own_network(), pools::PoolMode::shared, "mlx5_0", node), "roce-needs-netdev");
  EXPECT_THAT(text, HasSubstr("a network on bond0 (macvlan"));
}

TEST(RoceOfAPool, fewer_networks_than_nics_are_counted) {
  ContainerBuilder pod;
  pod.own_network().pod_annotation(kNetworks, "rail0, storage/nas");
  const auto text =
      only_text(remarks_on(pod, pools::PoolMode::shared, "mlx5_*"), "roce-needs-netdev");
  EXPECT_THAT(text,
              HasSubstr("the pod asks for 2 networks, \"default/rail0, storage/nas\", and has 4 "
                        "Ethernet NICs (mlx5_0, mlx5_1, mlx5_2, mlx5_3)"));
  ContainerBuilder enough;
  enough.own_network().pod_annotation(kNetworks, "a,b,c,d");
  EXPECT_THAT(remarks_on(enough, pools::PoolMode::shared, "mlx5_*"), IsEmpty());
}

TEST(RoceOfAPool, networks_that_cannot_be_read_are_no_verdict) {
  ContainerBuilder pod;
  pod.own_network().pod_annotation(kNetworks, "[{");
  EXPECT_THAT(test::codes(remarks_on(pod, pools::PoolMode::shared, "mlx5_*")),
              ElementsAre("annotation-malformed"));
}

TEST(RoceOfAPool, on_the_network_of_the_host_nothing_is_missing) {
  ContainerBuilder pod;
  EXPECT_THAT(remarks_on(pod, pools::PoolMode::shared, "mlx5_*"), IsEmpty());
  ContainerBuilder infiniband;
  EXPECT_THAT(
      remarks_on(infiniband.own_network(), pools::PoolMode::shared, "mlx5_*", test::seed_node()),
      IsEmpty());
}

TEST(RoceOfAFunction, that_nobody_moves_is_said_with_its_resource) {
  ContainerBuilder pod;
  const auto text = only_text(remarks_on(pod.own_network(), pools::PoolMode::exclusive, "mlx5_0"),
                              "roce-needs-netdev");
  EXPECT_THAT(text, AllOf(HasSubstr("its netdev is on the node"),
                          HasSubstr("k8s.v1.cni.cncf.io/resourceName is \"nvidia.com/hostdev\"")));
  ContainerBuilder asks;
  asks.own_network().pod_annotation(kNetworks, "hostdevice-net");
  EXPECT_THAT(remarks_on(asks, pools::PoolMode::exclusive, "mlx5_0"), IsEmpty());
}

/// A second exclusive pool has mlx5_1, and the container holds one of each.
TEST(RoceOfAFunction, of_two_pools_the_one_that_lacks_a_network_is_named) {
  node::Node node = machine();
  node.netdevs[0].elsewhere = true;
  InjectionPolicy policy;
  for (const std::string nic : {"mlx5_0", "mlx5_1"}) {
    policy.pools.push_back(test::exclusive_pool("nvidia.com/" + nic, {nic}));
  }
  const auto table = test::table_of(node, policy);
  ContainerBuilder pod;
  pod.own_network();
  for (const std::size_t nic : {0U, 1U})
    pod.annotation("allocation.railhead.io/" + policy.pools[nic].name,
                   table.node().nics[nic].pci->str());
  const auto text = only_text(test::decide(pod, table).remarks, "roce-needs-netdev");
  EXPECT_THAT(text, AllOf(HasSubstr("mlx5_1 is Ethernet"),
                          HasSubstr("resourceName is \"nvidia.com/mlx5_1\"")));
}

TEST(RoceOfAFunction, whose_netdev_has_left_the_node_lacks_nothing) {
  node::Node moved = machine();
  moved.netdevs[0].elsewhere = true;
  ContainerBuilder pod;
  EXPECT_THAT(remarks_on(pod.own_network(), pools::PoolMode::exclusive, "mlx5_0", moved),
              IsEmpty());
  node::Node unknown = machine();
  unknown.nics[0].netdevs.clear();
  ContainerBuilder other;
  EXPECT_THAT(remarks_on(other.own_network(), pools::PoolMode::exclusive, "mlx5_0", unknown),
              IsEmpty());
}

TEST(RoceOfAFunction, in_the_exclusive_mode_the_device_has_to_move_too) {
  node::Node node = machine();
  node.rdma_netns = node::RdmaNetns::exclusive;
  node.netdevs[0].elsewhere = true;
  ContainerBuilder pod;
  const auto text = only_text(
      remarks_on(pod.own_network(), pools::PoolMode::exclusive, "mlx5_0", node), "rdma-not-moved");
  EXPECT_THAT(text, HasSubstr("mlx5_0 is in the node's, so the pod cannot open it: add the CNI "
                              "plugin rdma"));
  node.nics[0].elsewhere = true;
  ContainerBuilder moved;
  EXPECT_THAT(remarks_on(moved.own_network(), pools::PoolMode::exclusive, "mlx5_0", node),
              IsEmpty());
  ContainerBuilder host;
  EXPECT_THAT(remarks_on(host, pools::PoolMode::exclusive, "mlx5_0", node), IsEmpty());
}

TEST(RoceOfTheDeal, is_left_out_with_what_to_do) {
  const auto table = test::table_of(machine());
  ContainerBuilder pod;
  pod.nvidia(0).own_network();
  const auto decision = test::decide(pod, table);
  EXPECT_EQ(decision.reason_code, "roce-own-network");
  EXPECT_THAT(decision.message, HasSubstr("set hostNetwork, or ask for a resource of this node"));
}

}  // namespace
}  // namespace railhead::inject
