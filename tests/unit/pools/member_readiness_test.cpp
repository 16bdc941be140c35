// SPDX-License-Identifier: Apache-2.0
#include "pools/member_readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/pools/pools_of.h"

namespace railhead::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kPortDown = "port 1 is DOWN";

/// As the kernel shows a function that nobody uses: its netdev is set down, its port with it.
void set_idle(node::Node& node, const node::Nic& nic) {
  for (auto& other : node.nics) {
    if (other.name != nic.name) continue;
    other.ports[0].state = node::PortState::down;
    other.ports[0].phys_state = "Disabled";
  }
  for (auto& netdev : node.netdevs) {
    if (netdev.pci != nic.pci) continue;
    netdev.up = false;
    netdev.carrier.reset();
  }
}

node::Node idle_vf_server() {
  auto node = vf_server();
  for (const auto& nic : node.nics) {
    if (node.find_pci(*nic.pci)->is_vf()) set_idle(node, nic);
  }
  return node;
}

void set_link(node::Node& node, const std::string& name, bool up, std::optional<bool> carrier) {
  for (auto& netdev : node.netdevs) {
    if (netdev.name != name) continue;
    netdev.up = up;
    netdev.carrier = carrier;
  }
}

std::vector<pools::NicStatus> statuses_of(const node::Node& node) {
  std::vector<pools::NicStatus> statuses;
  for (const auto& nic : node.nics) {
    const bool well = nic.ports[0].state == node::PortState::active;
    statuses.push_back({"compute", well ? "" : kPortDown, !well});
  }
  return statuses;
}

/// Why each member of the pool is not ready.
Texts reasons(const node::Node& node, const std::string& text) {
  const auto table = pools::make_pools(specs_of(text), node, statuses_of(node));
  Texts all;
  for (const auto& member : table.pools.at(0).members) {
    EXPECT_EQ(member.state == pools::MemberState::ready, member.reason.empty());
    all.push_back(member.reason);
  }
  return all;
}

std::string exclusive(const std::string& include, const std::string& more = "") {
  return "pools: [{name: a.io/a, mode: exclusive, include: " + include + more + "}]";
}

const std::string kVfs = sriov(R"({"pfNames": ["ens1f0"], "isRdma": true})");
const std::string kSecond = exclusive("{interfaces: ens2f0}", ", functions: pf");

TEST(MemberReadiness, an_idle_vf_is_ready_for_a_pod_will_raise_it) {
  EXPECT_THAT(reasons(idle_vf_server(), kVfs), Each(""));
  EXPECT_EQ(reasons(idle_vf_server(), kVfs).size(), 8U);
}

TEST(MemberReadiness, an_idle_sf_is_ready) {
  auto node = vf_server();
  node::Nic sf = node.nics.back();
  sf.name = "mlx5_20";
  sf.sub_function = "mlx5_core.sf.2";
  sf.netdevs = {"ens2f0s88"};
  sf.ports[0].state = node::PortState::down;
  node.nics.push_back(sf);
  EXPECT_THAT(reasons(node, sriov(R"({"auxTypes": ["sf"], "isRdma": true})",
                                  R"(, "deviceType": "auxNetDevice")")),
              ElementsAre(""));
}

TEST(MemberReadiness, the_cable_of_its_pf_counts) {
  auto node = idle_vf_server();
  set_link(node, "ens1f0", true, false);
  EXPECT_THAT(reasons(node, kVfs), Each("ens1f0 of its PF 0000:11:00.0 is up and has no carrier"));
  set_link(node, "ens1f0", true, true);
  EXPECT_THAT(reasons(node, kVfs), Each(""));
}

TEST(MemberReadiness, with_health_of_the_device_no_port_counts) {
  auto node = idle_vf_server();
  set_link(node, "ens1f0", true, false);
  for (auto& nic : node.nics) nic.ports[0].state = node::PortState::down;
  const std::string device = R"(, "health": "device")";
  EXPECT_THAT(reasons(node, sriov(R"({"pfNames": ["ens1f0"], "isRdma": true})", device)), Each(""));
  const std::string all = R"({"configList": [{"resourceName": "a", "rdmaHcaMax": 1,
                              "selectors": {"vendors": ["15b3"]}, "health": )";
  EXPECT_THAT(reasons(node, all + R"("link"}]})"), Each(kPortDown));
  EXPECT_THAT(reasons(node, all + R"("device"}]})"), Each(""));
  EXPECT_THAT(reasons(node, "pools: [{name: a.io/a, health: device}]"), Each(""));
  EXPECT_THAT(error_of("pools: [{name: a.io/a, health: cable}]"),
              HasSubstr("pools[0].health: \"cable\" is none of link, device"));
}

TEST(MemberReadiness, without_an_rdma_device_none_is_well_whatever_health) {
  const auto node = vf_server();
  const auto specs = specs_of("pools: [{name: a.io/a, health: device}]");
  const std::vector<pools::NicStatus> statuses(node.nics.size(), {"compute", "no uverbs", false});
  const auto table = pools::make_pools(specs, node, statuses);
  EXPECT_EQ(table.pools[0].members.at(0).reason, "no uverbs");
}

TEST(MemberReadiness, a_pf_that_is_set_down_says_nothing_of_its_cable) {
  auto node = idle_vf_server();
  set_link(node, "ens1f0", false, std::nullopt);
  EXPECT_THAT(reasons(node, kVfs), Each(""));
}

TEST(MemberReadiness, a_vf_with_an_active_port_needs_no_word_of_its_pf) {
  auto node = vf_server();
  set_link(node, "ens1f0", true, false);
  EXPECT_THAT(reasons(node, kVfs), Each(""));
}

TEST(MemberReadiness, in_a_bond_the_other_port_of_the_card_carries_on) {
  NodeBuilder b;
  b.numa(0, 0);
  b.nic(b.bridge(b.host_bridge(0x10, 0)), 2)
      .ethernet(200)
      .name("mlx5_0")
      .netdev("p")
      .master("bond0");
  auto node = b.build();
  auto vf = node.nics[0];
  vf.name = "mlx5_8";
  vf.pci = node::PciAddress{0, 0x11, 1, 0};
  vf.netdevs = {};
  vf.ports[0].state = node::PortState::down;
  node.nics.push_back(vf);
  auto function = *node.find_pci(*node.nics[0].pci);
  function.physfn = function.address;
  function.address = *vf.pci;
  node.pci.push_back(function);
  const auto vfs = exclusive("{names: mlx5_8}", ", functions: vf");
  set_link(node, "p", true, false);
  set_link(node, "p1", true, true);
  EXPECT_THAT(reasons(node, vfs), ElementsAre(""));
  set_link(node, "p1", true, false);
  EXPECT_THAT(reasons(node, vfs), ElementsAre(HasSubstr("p of its PF")));
}

TEST(MemberReadiness, an_infiniband_vf_without_a_guid_goes_by_the_link_of_its_pf) {
  NodeBuilder b;
  b.numa(0, 0);
  b.nic(b.bridge(b.host_bridge(0x10, 0))).netdev("ib0").virtual_functions(2);
  auto node = b.build();
  for (auto& nic : node.nics) {
    if (node.find_pci(*nic.pci)->is_vf()) nic.ports[0].state = node::PortState::down;
  }
  const auto vfs = exclusive("{vendors: '15b3'}", ", functions: vf");
  EXPECT_THAT(reasons(node, vfs), ElementsAre("", ""));
  node.nics[0].ports[0].state = node::PortState::down;
  EXPECT_THAT(reasons(node, vfs), ElementsAre("", ""));
  node.nics[0].ports[0].phys_state = "Polling";
  EXPECT_THAT(reasons(node, vfs), Each(HasSubstr("has no link (Polling)")));
}

TEST(MemberReadiness, a_pf_is_ready_with_its_netdev_down_but_not_without_carrier) {
  auto node = vf_server();
  set_idle(node, node.nics.back());
  EXPECT_THAT(reasons(node, kSecond), ElementsAre(""));
  set_link(node, "ens2f0", true, false);
  EXPECT_THAT(reasons(node, kSecond), ElementsAre(kPortDown));
}

TEST(MemberReadiness, where_nobody_knows_whether_a_pf_is_set_down_its_port_counts) {
  auto node = vf_server();
  node.nics.back().ports[0].state = node::PortState::down;
  EXPECT_THAT(reasons(node, kSecond), ElementsAre(kPortDown));
}

TEST(MemberReadiness, a_pf_whose_netdev_is_in_a_pod_is_the_pods_affair) {
  auto node = vf_server();
  set_idle(node, node.nics.back());
  node.nics.back().netdevs.clear();
  EXPECT_THAT(reasons(node, exclusive("{pciAddresses: '0000:12:00.0'}")), ElementsAre(""));
}

TEST(MemberReadiness, no_pod_raises_the_port_of_an_infiniband_pf) {
  auto node = small_server();
  node.nics[0].ports[0].state = node::PortState::down;
  set_link(node, "ib0", false, std::nullopt);
  EXPECT_THAT(reasons(node, exclusive("{interfaces: ib0}")), ElementsAre(kPortDown));
}

TEST(MemberReadiness, without_rdma_the_function_alone_counts) {
  auto node = idle_vf_server();
  set_link(node, "ens1f0", true, false);
  EXPECT_THAT(reasons(node, sriov(R"({"pfNames": ["ens1f0"]})")), Each(""));
}

TEST(MemberReadiness, a_trouble_that_is_no_ports_stays_one) {
  const auto node = idle_vf_server();
  auto statuses = statuses_of(node);
  for (auto& status : statuses) {
    if (status.by_ports) status = {"compute", "it has no uverbs device", false};
  }
  const auto table = pools::make_pools(specs_of(kVfs), node, statuses);
  EXPECT_EQ(table.pools[0].members[0].reason, "it has no uverbs device");
}

TEST(MemberReadiness, in_a_shared_pool_nobody_raises_a_link_so_its_port_counts) {
  EXPECT_THAT(reasons(idle_vf_server(),
                      "pools: [{name: a.io/a, slots: 4, functions: vf, include: {names: '*'}}]"),
              Each(kPortDown));
}

TEST(MemberReadiness, one_usable_rdma_device_of_a_function_is_enough) {
  auto node = vf_server();
  node.nics.push_back(node.nics.back());
  node.nics.back().name = "mlx5_other";
  node.nics.back().ports[0].state = node::PortState::down;
  const auto text = "pools: [{name: a.io/a, slots: 4, include: {interfaces: ens2f0}}]";
  EXPECT_THAT(reasons(node, text), ElementsAre(""));
}

TEST(MemberReadiness, what_is_in_a_pods_namespace_is_ready) {
  auto node = vf_server();
  for (auto& nic : node.nics) {
    if (node.find_pci(*nic.pci)->is_vf()) nic.elsewhere = true;
  }
  auto statuses = statuses_of(node);
  for (auto& status : statuses) status.trouble = "it is in another network namespace";
  const auto table = pools::make_pools(specs_of(kVfs), node, statuses);
  ASSERT_EQ(table.pools[0].members.size(), 8U);
  EXPECT_EQ(table.pools[0].members[0].state, pools::MemberState::ready);
}

TEST(MemberReadiness, a_pf_whose_netdev_moved_and_kept_its_name_is_ready) {
  auto node = vf_server();
  set_idle(node, node.nics.back());
  set_link(node, "ens2f0", true, false);
  for (auto& netdev : node.netdevs) netdev.elsewhere = netdev.name == "ens2f0";
  EXPECT_THAT(reasons(node, kSecond), ElementsAre(""));
}

}  // namespace
}  // namespace railhead::test
