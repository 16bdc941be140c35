// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "topology/layout.h"
#include "topology/topology.h"
#include "unit/topology/nccl_text.h"

namespace railhead::topology {
namespace {

using test::gpu;
using test::nic;
using test::topology_of;
using test::within;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Relation of the first GPU to the first NIC.
std::string relation(const std::vector<test::Cpu>& cpus) {
  const auto topology = make_topology(node_from(topology_of(cpus)));
  EXPECT_FALSE(topology.gpu_nic.empty() || topology.gpu_nic[0].empty());
  return std::string(to_string(topology.gpu_nic[0][0].relation));
}

TEST(NcclLayout, one_switch_is_pix) {
  EXPECT_EQ(relation({{"0", within("ffff:ff:01.0", gpu("0001:00:00.0") + nic("0101:00:00.0"))}}),
            "PIX");
}

TEST(NcclLayout, a_switch_of_switches_is_pxb) {
  EXPECT_EQ(relation({{"0", within("0000:01:00.0", within("0000:02:00.0", gpu("0000:03:00.0")) +
                                                       nic("0000:04:00.0"))}}),
            "PXB");
}

TEST(NcclLayout, one_bus_of_a_cpu_is_a_host_bridge) {
  EXPECT_EQ(relation({{"0", gpu("0002:00:01.0") + nic("0002:00:09.0")}}), "PHB");
}

TEST(NcclLayout, one_cpu_is_a_node) {
  EXPECT_EQ(relation({{"0", gpu("0001:00:00.0") + nic("0101:00:00.0")}}), "NODE");
  EXPECT_EQ(relation({{"0", within("ffff:ff:01.0", gpu("0001:00:00.0")) +
                                within("ffff:ff:02.0", nic("0101:00:00.0"))}}),
            "NODE");
}

TEST(NcclLayout, two_cpus_of_one_number_are_one_node) {
  EXPECT_EQ(relation({{"0", gpu("0001:00:00.0")}, {"0", nic("0101:00:00.0")}}), "NODE");
}

TEST(NcclLayout, two_cpus_are_far_even_on_one_bus) {
  EXPECT_EQ(relation({{"0", gpu("0000:00:16.0")}, {"1", nic("0000:00:15.0")}}), "SYS");
}

TEST(NcclLayout, below_a_cpu_without_a_number_all_share_a_host_bridge) {
  EXPECT_EQ(relation({{"-1", gpu("0001:00:00.0") + nic("0101:00:00.0")}}), "PHB");
}

TEST(NcclLayout, a_switch_keeps_its_address_and_has_a_port_for_each_device) {
  const auto layout = layout_of(
      topology_of({{"0", within("ffff:ff:01.0", gpu("0001:00:00.0") + nic("0101:00:00.0"))}}));
  ASSERT_THAT(layout.positions, SizeIs(2));
  for (const auto& position : layout.positions) {
    ASSERT_THAT(position.bridges, SizeIs(2));
    EXPECT_EQ(position.bridges[0].str(), "ffff:ff:01.0");
    EXPECT_EQ(position.bridges[1].domain, kInventedDomain);
  }
  EXPECT_NE(layout.positions[0].bridges[1], layout.positions[1].bridges[1]);
}

TEST(NcclLayout, ports_stay_away_from_addresses_of_the_file) {
  const auto layout =
      layout_of(topology_of({{"0", within("ffff:ff:01.0", gpu("ffffffff:00:00.0"))}}));
  EXPECT_EQ(layout.positions[0].bridges[1].str(), "ffffffff:00:00.1");
}

TEST(NcclLayout, a_nic_that_is_a_switch_hangs_on_its_own_port) {
  const auto topology = topology_of(
      {{"0", "<pci busid='0000:18:00.0' class='0x020700'><nic><net name='a' port='1'/></nic>" +
                 gpu("0000:1b:00.0") + "</pci>"}});
  EXPECT_EQ(make_topology(node_from(topology)).gpu_nic[0][0].relation, Relation::pix);
}

TEST(NcclLayout, a_busid_that_is_its_own_ancestor_is_two_switches) {
  const auto topology =
      topology_of({{"0", within("0000:01:00.0", within("0000:01:00.0", gpu("0000:03:00.0")) +
                                                    nic("0000:01:00.0"))}});
  const node::Node node = node_from(topology);
  EXPECT_EQ(make_topology(node).gpu_nic[0][0].relation, Relation::pxb);
  std::set<node::PciAddress> addresses;
  for (const auto& device : node.pci) EXPECT_TRUE(addresses.insert(device.address).second);
}

TEST(NcclLayout, a_function_at_several_places_keeps_the_first) {
  NcclTopology topology = topology_of({{"0", gpu("0000:01:00.0")}, {"1", ""}});
  topology.cpus[1].pci = topology.cpus[0].pci;
  const auto layout = layout_of(topology);
  ASSERT_THAT(layout.positions, SizeIs(1));
  EXPECT_EQ(layout.positions[0].numa_node, 0);
  EXPECT_THAT(layout.warnings,
              ElementsAre("0000:01:00.0 stands at several places, the first counts"));
}

TEST(NcclLayout, an_empty_file_is_an_empty_layout) {
  EXPECT_THAT(layout_of(NcclTopology{}).positions, IsEmpty());
}

}  // namespace
}  // namespace railhead::topology
