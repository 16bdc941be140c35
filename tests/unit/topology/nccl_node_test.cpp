// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/layout.h"
#include "unit/topology/nccl_text.h"

namespace railhead::topology {
namespace {

using test::gpu;
using test::net;
using test::nic;
using test::topology_of;
using test::within;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> names(const node::Node& node) {
  std::vector<std::string> all;
  for (const auto& one : node.nics) all.push_back(one.name);
  return all;
}

std::vector<std::string> problems(const node::Node& node) {
  std::vector<std::string> all;
  for (const auto& problem : node.problems) all.push_back(problem.path + ": " + problem.what);
  return all;
}

TEST(NcclNode, gpus_are_numbered_by_address) {
  const node::Node node =
      node_from(topology_of({{"1", gpu("0002:00:00.0")}, {"0", gpu("0001:00:00.0")}}));
  ASSERT_THAT(node.gpus, SizeIs(2));
  EXPECT_EQ(node.gpus[0].pci.str(), "0001:00:00.0");
  EXPECT_EQ(node.gpus[0].index, 0U);
  EXPECT_EQ(node.gpus[0].numa_node, 0);
  EXPECT_EQ(node.gpus[1].index, 1U);
  EXPECT_EQ(node.gpus[1].numa_node, 1);
}

TEST(NcclNode, vendors_are_told_by_id_else_by_class) {
  const node::Node node = node_from(topology_of({{"0",
                                                  "<pci busid='0:01:00.0' class='0x030200'/>"
                                                  "<pci busid='0:02:00.0' class='0x120000'/>"
                                                  "<pci busid='0:03:00.0' class='0x038000' "
                                                  "vendor='0x1002'><gpu dev='0'/></pci>"}}));
  ASSERT_THAT(node.gpus, SizeIs(3));
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::nvidia);
  EXPECT_EQ(node.gpus[1].vendor, gpu::GpuVendor::amd);
  EXPECT_EQ(node.gpus[2].vendor, gpu::GpuVendor::amd);
  EXPECT_EQ(node.gpus[2].index, 1U);
}

TEST(NcclNode, intel_gpus_of_a_file_are_not_its_processors_graphics) {
  const node::Node node =
      node_from(topology_of({{"0",
                              "<pci busid='0:00:02.0' class='0x030000' vendor='0x8086'/>"
                              "<pci busid='0:aa:00.0' class='0x060400' vendor='0x8086'>"
                              "<pci busid='0:ac:00.0' class='0x030000' vendor='0x8086'/></pci>"}}));
  ASSERT_THAT(node.gpus, SizeIs(1));
  EXPECT_EQ(node.gpus[0].pci.str(), "0000:ac:00.0");
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::intel);
}

TEST(NcclNode, gpus_of_a_file_for_rccl_are_amds_where_no_vendor_is_said) {
  const std::string text =
      "<cpu numaid='0'><pci busid='0:01:00.0' class='0x038000'><gpu dev='0'/></pci>"
      "<pci busid='0:02:00.0' class='0x030200' vendor='0x10de'/></cpu></system>";
  const auto file = parse_nccl_topology("<system version='2'>" + text, "topo.xml");
  ASSERT_TRUE(file);
  const node::Node node = node_from(*file);
  ASSERT_THAT(node.gpus, SizeIs(2));
  EXPECT_EQ(node.gpus[0].vendor, gpu::GpuVendor::amd);
  EXPECT_EQ(node.gpus[1].vendor, gpu::GpuVendor::nvidia);
}

TEST(NcclNode, a_net_is_an_active_device_with_the_speed_of_the_file) {
  const node::Node node = node_from(topology_of(
      {{"0", net("0000:18:00.0",
                 "name='rocep1s0' speed='200000' port='1' guid='0xc8c9d60003ae6d94'")}}));
  ASSERT_THAT(node.nics, SizeIs(1));
  const node::Nic& nic = node.nics[0];
  EXPECT_EQ(nic.name, "rocep1s0");
  EXPECT_TRUE(nic.registered);
  EXPECT_EQ(nic.pci->str(), "0000:18:00.0");
  EXPECT_EQ(nic.sys_image_guid, "946d:ae03:00d6:c9c8");
  ASSERT_THAT(nic.ports, SizeIs(1));
  EXPECT_EQ(nic.ports[0].state, node::PortState::active);
  EXPECT_EQ(nic.ports[0].rate_gbps, 200.0);
  EXPECT_EQ(nic.ports[0].link_layer, node::LinkLayer::infiniband);
  EXPECT_THAT(nic.uverbs, IsEmpty());
}

TEST(NcclNode, nets_of_one_name_are_ports_of_one_device) {
  const node::Node node = node_from(topology_of(
      {{"0",
        "<pci busid='0:18:00.0' class='0x020700'><nic><net name='mlx4_0' port='1'/><net "
        "name='mlx4_0' port='2'/><net name='mlx4_1' port='3'/></nic></pci>"}}));
  EXPECT_THAT(names(node), ElementsAre("mlx4_0", "mlx4_1"));
  ASSERT_THAT(node.nics[0].ports, SizeIs(2));
  EXPECT_EQ(node.nics[0].ports[1].number, 2U);
  // NCCL counts on through the functions of a card; the port of a device is not that number.
  EXPECT_EQ(node.nics[1].ports[0].number, 1U);
}

TEST(NcclNode, devices_of_one_function_stay_in_the_order_of_the_file) {
  const node::Node node = node_from(topology_of(
      {{"0", net("0000:28:00.0", "name='mlx5_11' port='1'") +
                 "<pci busid='0000:18:00.0' class='0x020700'><nic><net name='mlx5_9' port='1'/>"
                 "<net name='mlx5_10' port='2'/></nic></pci>"
                 "<nic><net name='rxe9' port='1'/><net name='rxe10' port='1'/></nic>"}}));
  EXPECT_THAT(names(node), ElementsAre("mlx5_9", "mlx5_10", "mlx5_11", "rxe9", "rxe10"));
}

TEST(NcclNode, a_name_of_two_functions_is_made_two_names) {
  const node::Node node =
      node_from(topology_of({{"0", net("0000:18:00.0", "name='a' port='1'") +
                                       net("0000:19:00.0", "name='a' port='1'")}}));
  EXPECT_THAT(names(node), ElementsAre("a", "a@0000:19:00.0"));
  EXPECT_THAT(problems(node),
              ElementsAre("topo.xml: \"a\" is the name of several devices, one is called "
                          "a@0000:19:00.0"));
}

TEST(NcclNode, a_network_function_without_net_is_named_by_its_address) {
  const node::Node node = node_from(topology_of({{"0", nic("0101:00:00.0")}}));
  EXPECT_THAT(names(node), ElementsAre("0101:00:00.0"));
  EXPECT_TRUE(node.nics[0].registered);
  EXPECT_EQ(node.nics[0].ports[0].rate_gbps, std::nullopt);
}

TEST(NcclNode, sockets_are_no_rdma_devices) {
  const node::Node node = node_from(topology_of(
      {{"0",
        "<pci busid='0:18:00.0' class='0x020000'><nic><net name='eno1' port='0'/></nic></pci>"
        "<nic><net name='docker0' port='0'/></nic>"}}));
  EXPECT_THAT(node.nics, IsEmpty());
  EXPECT_THAT(node.problems, IsEmpty());
}

TEST(NcclNode, nets_below_a_host_bridge_stand_where_the_file_puts_them) {
  const node::Node node = node_from(
      topology_of({{"0",
                    "<pci busid='0002:00:00.0' class='0x060000'><nic><net name='mlx5_5' port='1' "
                    "guid='0x1'/><net name='mlx5_6' port='2' guid='0x2'/></nic></pci>" +
                        gpu("0002:00:01.0")}}));
  EXPECT_THAT(names(node), ElementsAre("mlx5_5", "mlx5_6"));
  EXPECT_EQ(node.nics[1].pci->str(), "0002:00:00.0");
}

TEST(NcclNode, numa_nodes_have_the_cpus_of_their_masks) {
  const auto topology = parse_nccl_topology(
      "<system version='1'><cpu numaid='1' affinity='f0'/><cpu numaid='0' affinity='1,00000000'/>"
      "<cpu numaid='1' affinity='0f'/><cpu numaid='-1' affinity='f00'/></system>",
      "topo.xml");
  ASSERT_TRUE(topology);
  const node::Node node = node_from(*topology);
  ASSERT_THAT(node.numa, SizeIs(2));
  EXPECT_THAT(node.numa[0].cpus, ElementsAre(32));
  EXPECT_THAT(node.numa[1].cpus, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(NcclNode, a_function_of_which_nothing_is_said_is_a_problem) {
  const node::Node node = node_from(topology_of({{"0", "<pci busid='0000:01:00.0'/>\n"}}));
  EXPECT_THAT(node.gpus, IsEmpty());
  EXPECT_THAT(node.nics, IsEmpty());
  EXPECT_THAT(problems(node),
              ElementsAre("topo.xml: line 3: 0000:01:00.0 has no class, <gpu> or <net>: not known "
                          "what it is"));
}

TEST(NcclNode, unclassified_are_functions_of_which_nothing_is_said) {
  const node::Node node = node_from(topology_of(
      {{"0", "<pci busid='0000:01:00.0'/>\n<pci busid='0000:02:00.0'><gpu dev='0'/></pci>\n" +
                 nic("0000:03:00.0")}}));
  ASSERT_THAT(unclassified_functions(node), SizeIs(1));
  EXPECT_EQ(unclassified_functions(node)[0].str(), "0000:01:00.0");
}

TEST(NcclNode, lists_are_sorted_and_switches_described) {
  const node::Node node = node_from(
      topology_of({{"0", within("ffff:ff:01.0", nic("0101:00:00.0") + gpu("0001:00:00.0"))}}));
  EXPECT_TRUE(std::is_sorted(
      node.pci.begin(), node.pci.end(),
      [](const node::PciDevice& a, const node::PciDevice& b) { return a.address < b.address; }));
  const auto* up = node.find_pci(node::PciAddress::parse("ffff:ff:01.0").value());
  ASSERT_NE(up, nullptr);
  EXPECT_TRUE(up->is_bridge());
  EXPECT_EQ(up->numa_node, 0);
}

}  // namespace
}  // namespace railhead::topology
