// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

#include <gtest/gtest.h>

#include <array>

#include "unit/machines.h"
#include "unit/node_builder.h"

namespace railhead::topology {
namespace {

using test::NodeBuilder;
using test::Slot;

/// Relation of GPU g and NIC n.
Relation gpu_nic(const node::Node& node, std::size_t g, std::size_t n) {
  return make_topology(node).gpu_nic.at(g).at(n).relation;
}

NodeBuilder two_sockets() {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  return b;
}

TEST(Topology, bridges_below_the_shared_one_are_between) {
  NodeBuilder b;
  const auto above = b.pcie_switch(b.bridge(b.host_bridge(0x10, 0)));
  const auto of_gpu = b.bridge(above);
  const auto of_nic = b.bridge(above);
  b.gpu(of_gpu);
  b.nic(of_nic);
  b.nic(b.bridge(b.host_bridge(0x20, 0)));
  const auto node = b.build();
  const auto& gpu = *node.find_pci(node.gpus[0].pci);
  const std::vector between{of_gpu.bridges.back(), of_nic.bridges.back()};
  EXPECT_EQ(bridges_between(gpu, *node.find_pci(*node.nics[0].pci)), between);
  EXPECT_TRUE(bridges_between(gpu, *node.find_pci(*node.nics[1].pci)).empty());
}

TEST(Topology, one_switch_is_pix) {
  auto b = two_sockets();
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x15, 0)));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw));
  const auto topology = make_topology(b.build());
  EXPECT_EQ(topology.gpu_nic[0][0], (Nearness{Relation::pix, false, 2}));
  EXPECT_EQ(topology.source, TopologySource::pci_tree);
  EXPECT_EQ(topology.confidence, Confidence::high);
}

TEST(Topology, two_level_switch_is_pxb_as_on_dgx_h100) {
  const node::Node node = test::dgx_h100().build();
  const auto topology = make_topology(node);
  for (std::size_t g = 0; g < 8; ++g) {
    for (std::size_t n = 0; n < node.nics.size(); ++n) {
      const bool own =
          node.find_pci(*node.nics[n].pci)->root == node.find_pci(node.gpus[g].pci)->root;
      const bool one_socket = *node.nics[n].numa_node == *node.gpus[g].numa_node;
      const auto expected = own ? Relation::pxb : one_socket ? Relation::node : Relation::sys;
      EXPECT_EQ(topology.gpu_nic[g][n].relation, expected) << g << " " << n;
    }
  }
}

TEST(Topology, one_side_a_switch_deeper_is_pxb) {
  auto b = two_sockets();
  const Slot outer = b.pcie_switch(b.bridge(b.host_bridge(0x15, 0)));
  b.nic(b.bridge(outer));
  b.gpu(b.bridge(b.pcie_switch(b.bridge(outer))));
  EXPECT_EQ(gpu_nic(b.build(), 0, 0), Relation::pxb);
}

TEST(Topology, functions_of_a_card_are_pix_below_a_root_port_or_a_switch) {
  auto b = two_sockets();
  const Slot root = b.host_bridge(0x20, 0);
  b.nic(b.bridge(root), 2);
  b.nic(b.bridge(b.pcie_switch(b.bridge(root))), 2);
  const auto nics = nic_relations(b.build());
  EXPECT_EQ(nics[0][1].relation, Relation::pix);
  EXPECT_EQ(nics[2][3].relation, Relation::pix);
  EXPECT_EQ(nics[0][2].relation, Relation::phb);
  EXPECT_LT(nics[2][3], nics[0][1]) << "deeper is nearer";
}

TEST(Topology, amd_gpu_behind_its_own_switch_is_pxb_on_its_nics_switch) {
  auto b = two_sockets();
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x00, 0)));
  b.gpu(b.bridge(b.pcie_switch(b.bridge(sw))), gpu::GpuVendor::amd);
  b.nic(b.bridge(sw));
  const auto near = make_topology(b.build()).gpu_nic[0][0];
  EXPECT_EQ(near, (Nearness{Relation::pxb, false, 2}));
}

/// Below the switch of an Intel GPU card.
Slot on_intel_card(NodeBuilder& b, const Slot& at) {
  return b.bridge(b.bridge(at, 0x8086), 0x8086);
}

TEST(Topology, the_switch_on_an_intel_card_is_not_counted) {
  auto b = two_sockets();
  const Slot outer = b.pcie_switch(b.bridge(b.host_bridge(0x00, 0), 0x8086));
  b.gpu(on_intel_card(b, b.bridge(outer)), gpu::GpuVendor::intel);
  b.nic(b.bridge(outer));
  b.nic(b.bridge(b.pcie_switch(b.bridge(outer))));
  const auto row = make_topology(b.build()).gpu_nic[0];
  EXPECT_EQ(row[0], (Nearness{Relation::pix, false, 2}));
  EXPECT_EQ(row[1], (Nearness{Relation::pxb, false, 2})) << "a tie if the card's switch counted";
}

TEST(Topology, a_root_port_of_intels_is_no_switch_on_a_card) {
  auto b = two_sockets();
  const Slot root = b.host_bridge(0x00, 0);
  const Slot port = b.bridge(root, 0x8086);
  const Slot sw = b.pcie_switch(port);
  b.gpu(b.bridge(sw), gpu::GpuVendor::intel);
  b.nic(b.bridge(sw));
  const Slot direct = b.bridge(b.host_bridge(0x40, 0), 0x8086);
  b.gpu(direct, gpu::GpuVendor::intel);
  b.nic(direct);
  const Slot above = b.bridge(b.host_bridge(0x80, 0), 0x8086);
  b.gpu(b.bridge(above, 0x8086), gpu::GpuVendor::intel);
  b.nic(b.bridge(above));
  const auto relations = make_topology(b.build()).gpu_nic;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(relations[i][i].relation, Relation::pix) << i;
  EXPECT_EQ(relations[1][1].common_depth, 1);
}

TEST(Topology, intel_cards_on_root_ports_of_one_host_bridge_are_phb) {
  auto b = two_sockets();
  const Slot root = b.host_bridge(0xc0, 0);
  b.gpu(on_intel_card(b, b.bridge(root, 0x8086)), gpu::GpuVendor::intel);
  b.nic(b.bridge(root, 0x8086));
  EXPECT_EQ(gpu_nic(b.build(), 0, 0), Relation::phb);
}

TEST(Topology, depth_of_the_common_switch_orders_pairs_that_all_print_pxb) {
  auto b = two_sockets();
  const Slot outer = b.pcie_switch(b.bridge(b.host_bridge(0x00, 0)));
  const Slot inner = b.pcie_switch(b.bridge(outer));
  b.gpu(b.bridge(b.pcie_switch(b.bridge(inner))), gpu::GpuVendor::amd);
  b.nic(b.bridge(inner));
  b.nic(b.bridge(outer));
  const auto row = make_topology(b.build()).gpu_nic[0];
  EXPECT_EQ(row[0].relation, Relation::pxb);
  EXPECT_EQ(row[1].relation, Relation::pxb);
  EXPECT_LT(row[0], row[1]);
}

TEST(Topology, root_ports_of_one_host_bridge_are_phb) {
  auto b = two_sockets();
  const Slot root = b.host_bridge(0xc0, 0);
  b.gpu(b.bridge(root));
  b.nic(b.bridge(root));
  EXPECT_EQ(gpu_nic(b.build(), 0, 0), Relation::phb);
}

TEST(Topology, devices_on_the_root_bus_itself_are_phb) {
  auto b = two_sockets();
  const Slot root = b.host_bridge(0x00, 0);
  b.gpu(root);
  b.nic(root);
  EXPECT_EQ(gpu_nic(b.build(), 0, 0), Relation::phb);
}

TEST(Topology, same_bus_number_in_another_domain_is_another_host_bridge) {
  auto b = two_sockets();
  b.gpu(b.bridge(b.host_bridge(0x00, 0, 0x0004)));
  b.nic(b.bridge(b.host_bridge(0x00, 0, 0x10003)));
  EXPECT_EQ(gpu_nic(b.build(), 0, 0), Relation::node);
}

TEST(Topology, two_host_bridges_are_node_within_a_numa_node_and_sys_beyond) {
  auto b = two_sockets();
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 0)));
  b.nic(b.bridge(b.host_bridge(0x90, 1)));
  const auto row = make_topology(b.build()).gpu_nic[0];
  EXPECT_EQ(row[0].relation, Relation::node);
  EXPECT_EQ(row[1].relation, Relation::sys);
}

TEST(Topology, unknown_numa_is_sys_even_when_both_are_unknown) {
  NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, std::nullopt)));
  b.nic(b.bridge(b.host_bridge(0x20, std::nullopt)));
  EXPECT_EQ(make_topology(b.build()).gpu_nic[0][0], (Nearness{Relation::sys, false, 0}));
}

TEST(Topology, within_sys_the_same_socket_is_nearer) {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 0).numa(2, 1);
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.nic(b.bridge(b.host_bridge(0x20, 1)));
  b.nic(b.bridge(b.host_bridge(0x90, 2)));
  const auto row = make_topology(b.build()).gpu_nic[0];
  EXPECT_EQ(row[0], (Nearness{Relation::sys, true, 0}));
  EXPECT_EQ(row[1], (Nearness{Relation::sys, false, 0}));
  EXPECT_LT(row[0], row[1]);
}

/// Two sockets and a GPU whose memory is a NUMA node of its own, by their distances; a NIC on the
/// second socket, and one on the first.
NodeBuilder gpu_that_is_a_numa_node(const std::array<std::vector<unsigned>, 3>& distances) {
  NodeBuilder b;
  b.numa(0, 0, {0, 1}, distances[0]).numa(1, 1, {2, 3}, distances[1]).numa(2, 0, {}, distances[2]);
  b.gpu(b.bridge(b.host_bridge(0x00, 2, 8)));
  b.nic(b.bridge(b.host_bridge(0x00, 1, 16)));
  b.nic(b.bridge(b.host_bridge(0x00, 0, 17)));
  return b;
}

TEST(Topology, a_gpu_that_is_a_numa_node_is_sys_and_nearer_on_its_socket) {
  auto b = gpu_that_is_a_numa_node({{{10, 40, 80}, {40, 10, 120}, {80, 120, 10}}});
  b.raw().numa[2].socket.reset();
  const auto row = make_topology(b.build()).gpu_nic[0];
  EXPECT_EQ(row[0], (Nearness{Relation::sys, false, 0}));
  EXPECT_EQ(row[1], (Nearness{Relation::sys, true, 0}));
}

TEST(Topology, memory_of_a_gpu_is_near_its_cpus_where_sockets_are_unknown) {
  auto b = gpu_that_is_a_numa_node({{{10, 40, 80}, {40, 10, 120}, {80, 120, 10}}});
  for (auto& numa : b.raw().numa) numa.socket.reset();
  const auto row = make_topology(b.build()).gpu_nic[0];
  EXPECT_EQ(row[0], (Nearness{Relation::sys, false, 0}));
  EXPECT_EQ(row[1], (Nearness{Relation::sys, true, 0}));
}

TEST(Topology, memory_as_near_to_two_sockets_counts_to_the_first) {
  auto b = gpu_that_is_a_numa_node({{{10, 20, 20}, {20, 10, 20}, {20, 20, 10}}});
  for (auto& numa : b.raw().numa) numa.socket.reset();
  const auto row = make_topology(b.build()).gpu_nic[0];
  EXPECT_EQ(row[0], (Nearness{Relation::sys, false, 0}));
  EXPECT_EQ(row[1], (Nearness{Relation::sys, true, 0}));
}

TEST(Topology, two_gpus_with_memory_of_their_own_on_one_socket_are_sys) {
  NodeBuilder b;
  b.numa(0, 0, {0, 1}, {10, 80, 80}).numa(1, 0, {}, {80, 10, 80}).numa(2, 0, {}, {80, 80, 10});
  b.gpu(b.bridge(b.host_bridge(0x00, 1, 8)));
  b.gpu(b.bridge(b.host_bridge(0x00, 2, 9)));
  EXPECT_EQ(make_topology(b.build()).gpu_gpu[0][1], (Nearness{Relation::sys, true, 0}));
}

TEST(Topology, numa_node_that_is_not_listed_still_compares_by_number) {
  NodeBuilder b;
  b.gpu(b.bridge(b.host_bridge(0x10, 3)));
  b.nic(b.bridge(b.host_bridge(0x20, 3)));
  EXPECT_EQ(gpu_nic(b.build(), 0, 0), Relation::node);
}

TEST(Topology, soft_device_is_sys_to_everything_but_itself) {
  auto b = two_sockets();
  b.gpu(b.bridge(b.host_bridge(0x10, 0)));
  b.soft_nic("rxe0", "eth0");
  b.soft_nic("rxe1", "eth0");
  const node::Node node = b.build();
  const auto topology = make_topology(node);
  EXPECT_EQ(topology.gpu_nic[0][0].relation, Relation::sys);
  EXPECT_EQ(nic_relations(node)[0][1].relation, Relation::sys);
  EXPECT_EQ(nic_relations(node)[1][1].relation, Relation::pix);
  EXPECT_TRUE(topology.warnings.empty());
}

TEST(Topology, function_without_a_path_is_sys_and_lowers_the_confidence) {
  auto b = two_sockets();
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x15, 0)));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw));
  node::Node node = b.build();
  for (auto& device : node.pci) {
    if (device.address == node.gpus[0].pci) device.root.clear();
  }
  const auto topology = make_topology(node);
  EXPECT_EQ(topology.gpu_nic[0][0].relation, Relation::sys);
  EXPECT_EQ(topology.confidence, Confidence::low);
  ASSERT_EQ(topology.warnings.size(), 1U);
  EXPECT_NE(topology.warnings[0].find(node.gpus[0].pci.str()), std::string::npos);
}

TEST(Topology, two_devices_of_one_function_are_pix) {
  auto b = two_sockets();
  b.nic(b.host_bridge(0x15, 0));
  node::Node node = b.build();
  node.nics.push_back(node.nics[0]);
  EXPECT_EQ(nic_relations(node)[0][1].relation, Relation::pix);
}

TEST(Topology, virtual_functions_are_where_their_card_is) {
  auto b = two_sockets();
  const Slot sw = b.pcie_switch(b.bridge(b.host_bridge(0x15, 0)));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw)).virtual_functions(8);
  const auto topology = make_topology(b.build());
  ASSERT_EQ(topology.gpu_nic[0].size(), 9U);
  for (const auto& near : topology.gpu_nic[0]) EXPECT_EQ(near.relation, Relation::pix);
}

TEST(Topology, common_bridge_is_the_switch_where_the_paths_part) {
  auto b = two_sockets();
  const Slot root = b.host_bridge(0x15, 0);
  const Slot sw = b.pcie_switch(b.bridge(root));
  b.gpu(b.bridge(sw));
  b.nic(b.bridge(sw));
  b.nic(b.bridge(root));
  const node::Node node = b.build();
  const auto* gpu = node.find_pci(node.gpus[0].pci);
  EXPECT_EQ(common_bridge(*gpu, *node.find_pci(*node.nics[0].pci)), sw.bridges.back());
  EXPECT_EQ(common_bridge(*gpu, *node.find_pci(*node.nics[1].pci)), std::nullopt);
}

TEST(Topology, words_are_those_of_nvidia_smi) {
  EXPECT_EQ(to_string(Relation::pix), "PIX");
  EXPECT_EQ(to_string(Relation::pxb), "PXB");
  EXPECT_EQ(to_string(Relation::phb), "PHB");
  EXPECT_EQ(to_string(Relation::node), "NODE");
  EXPECT_EQ(to_string(Relation::sys), "SYS");
  EXPECT_EQ(to_string(TopologySource::pci_tree), "PCI tree");
  EXPECT_EQ(to_string(Confidence::medium), "medium");
}

}  // namespace
}  // namespace railhead::topology
