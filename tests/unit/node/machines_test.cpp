// SPDX-License-Identifier: Apache-2.0
// Facts of the machines in the box (tests/nodes/*.node) that decisions rest on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "snapshot/snapshot.h"
#include "unit/node/hosts.h"

namespace railhead::node {
namespace {

using test::machine;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> gpu_addresses(const Node& node) {
  std::vector<std::string> addresses;
  for (const auto& gpu : node.gpus) addresses.push_back(gpu.pci.str());
  return addresses;
}

std::vector<std::string> nic_names(const Node& node) {
  std::vector<std::string> names;
  for (const auto& nic : node.nics) names.push_back(nic.name);
  return names;
}

/// Number of bridges that two functions have in common; -1: not even the host bridge.
int shared_bridges(const Node& node, const PciAddress& a, const PciAddress& b) {
  const auto& x = *node.find_pci(a);
  const auto& y = *node.find_pci(b);
  if (x.root != y.root) return -1;
  const auto [end, other] =
      std::mismatch(x.bridges.begin(), x.bridges.end(), y.bridges.begin(), y.bridges.end());
  return static_cast<int>(end - x.bridges.begin());
}

TEST(Machines, are_many) {
  EXPECT_GE(test::machine_names().size(), 24U);
}

TEST(Machines, are_in_the_form_that_the_snapshot_command_writes) {
  for (const auto& name : test::machine_names()) {
    const auto text = test::machine_text(name);
    const auto snapshot = snapshot::parse_snapshot(text);
    ASSERT_TRUE(snapshot) << name << ": " << snapshot.error().message;
    EXPECT_EQ(snapshot::format_snapshot(*snapshot), text) << name;
  }
}

TEST(Machines, have_no_problems_but_the_broken_one) {
  for (const auto& name : test::machine_names()) {
    const auto node = machine(name);
    EXPECT_EQ(node.name, name);
    if (name == "broken-host") continue;
    EXPECT_TRUE(node.problems.empty())
        << name << ": " << node.problems.front().path << ": " << node.problems.front().what;
  }
}

TEST(Machines, every_function_has_a_path_and_every_bridge_of_it_is_there) {
  for (const auto& name : test::machine_names()) {
    const auto node = machine(name);
    EXPECT_TRUE(std::is_sorted(node.pci.begin(), node.pci.end(), [](const auto& a, const auto& b) {
      return a.address < b.address;
    })) << name;
    for (const auto& device : node.pci) {
      EXPECT_NE(device.root, "") << name << " " << device.address.str();
      for (const auto& bridge : device.bridges) {
        ASSERT_NE(node.find_pci(bridge), nullptr) << name << " " << bridge.str();
        EXPECT_TRUE(node.find_pci(bridge)->is_bridge()) << name << " " << bridge.str();
      }
    }
  }
}

TEST(Machines, dgx_h100_has_eight_gpus_and_twelve_rdma_devices) {
  const auto node = machine("dgx-h100");
  EXPECT_THAT(gpu_addresses(node),
              ElementsAre("0000:1b:00.0", "0000:43:00.0", "0000:52:00.0", "0000:61:00.0",
                          "0000:9d:00.0", "0000:c3:00.0", "0000:d1:00.0", "0000:df:00.0"));
  EXPECT_THAT(nic_names(node),
              ElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6",
                          "mlx5_7", "mlx5_8", "mlx5_9", "mlx5_10", "mlx5_11"));
  EXPECT_EQ(node.gpus[5].index, 5U);
  EXPECT_EQ(node.gpus[5].minor, 5U);
  EXPECT_EQ(node.gpus[5].numa_node, 1);
  EXPECT_EQ(node.gpus[5].model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(node.dmi.product_name, "DGXH100");
  EXPECT_FALSE(node.hypervisor);
  EXPECT_EQ(node.rdma_netns, RdmaNetns::shared);
}

/// The published matrix: every compute NIC meets one GPU above two switches (PXB), nothing else
/// meets below a host bridge.
TEST(Machines, dgx_h100_relations_are_those_of_the_published_matrix) {
  const auto node = machine("dgx-h100");
  const std::map<std::string, std::size_t> partner = {{"mlx5_0", 0},  {"mlx5_3", 1}, {"mlx5_4", 2},
                                                      {"mlx5_5", 3},  {"mlx5_6", 4}, {"mlx5_9", 5},
                                                      {"mlx5_10", 6}, {"mlx5_11", 7}};
  for (const auto& nic : node.nics) {
    for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
      const auto at = partner.find(nic.name);
      const bool pair = at != partner.end() && at->second == gpu;
      EXPECT_EQ(shared_bridges(node, *nic.pci, node.gpus[gpu].pci), pair ? 2 : -1)
          << nic.name << " GPU" << gpu;
      EXPECT_EQ(nic.numa_node == node.gpus[gpu].numa_node, (gpu < 4) == (nic.pci->bus < 0x80))
          << nic.name << " GPU" << gpu;
    }
  }
  EXPECT_EQ(shared_bridges(node, *node.find_nic("mlx5_1")->pci, *node.find_nic("mlx5_2")->pci), 3);
}

TEST(Machines, dgx_h100_ports_and_character_devices) {
  const auto node = machine("dgx-h100");
  const auto& nic = *node.find_nic("mlx5_9");
  ASSERT_EQ(nic.ports.size(), 1U);
  EXPECT_EQ(nic.ports[0].state, PortState::active);
  EXPECT_EQ(nic.ports[0].phys_state, "LinkUp");
  EXPECT_EQ(nic.ports[0].link_layer, LinkLayer::infiniband);
  EXPECT_EQ(nic.ports[0].rate_gbps, 400.0);
  EXPECT_EQ(nic.ports[0].rate_text, "400 Gb/sec (4X NDR)");
  EXPECT_EQ(nic.ports[0].lid, 0x1aU);
  EXPECT_EQ(nic.ports[0].sm_lid, 1U);
  EXPECT_THAT(nic.ports[0].pkeys, ElementsAre(0xffff, 0x7fff));
  ASSERT_EQ(nic.ports[0].gids.size(), 1U);
  EXPECT_EQ(nic.ports[0].gids[0].type, "IB/RoCE v1");
  EXPECT_EQ(nic.ports[0].gids[0].netdev, std::nullopt);
  EXPECT_THAT(nic.uverbs,
              ElementsAre(CharDevice{"/dev/infiniband/uverbs9", 231, 201, 0666, 0, 0, true}));
  EXPECT_THAT(nic.umads,
              ElementsAre(CharDevice{"/dev/infiniband/umad9", 231, 9, 0600, 0, 0, true}));
  EXPECT_THAT(nic.issms,
              ElementsAre(CharDevice{"/dev/infiniband/issm9", 231, 73, 0600, 0, 0, true}));
  EXPECT_EQ(node.rdma_cm, (CharDevice{"/dev/infiniband/rdma_cm", 10, 121, 0666, 0, 0, true}));
  EXPECT_THAT(nic.netdevs, ElementsAre("ibp192s0"));
}

TEST(Machines, dgx_h100_default_route_leaves_by_a_netdev_without_rdma) {
  const auto node = machine("dgx-h100");
  EXPECT_TRUE(node.carries_main_route("ens6f0"));
  for (const auto& nic : node.nics) {
    for (const auto& netdev : nic.netdevs) EXPECT_FALSE(node.carries_main_route(netdev));
  }
}

TEST(Machines, dgx_h100_numa_nodes_have_cpus_sockets_and_distances) {
  const auto node = machine("dgx-h100");
  ASSERT_EQ(node.numa.size(), 2U);
  EXPECT_EQ(node.numa[1].cpus.size(), 112U);
  EXPECT_EQ(node.numa[1].cpus.front(), 56U);
  EXPECT_EQ(node.numa[1].cpus.back(), 223U);
  EXPECT_EQ(node.numa[1].socket, 1);
  EXPECT_THAT(node.numa[1].distances, ElementsAre(32U, 10U));
}

TEST(Machines, dgx_a100_gpus_do_not_follow_the_numa_order) {
  const auto node = machine("dgx-a100");
  std::vector<int> numa;
  for (const auto& gpu : node.gpus) numa.push_back(*gpu.numa_node);
  EXPECT_THAT(numa, ElementsAre(3, 3, 1, 1, 7, 7, 5, 5));
  EXPECT_EQ(node.nics.size(), 10U);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    for (std::size_t nic = 0; nic < 10; ++nic) {
      EXPECT_EQ(shared_bridges(node, node.gpus[gpu].pci, *node.nics[nic].pci),
                nic < 8 && nic / 2 == gpu / 2 ? 2 : -1)
          << "GPU" << gpu << " " << node.nics[nic].name;
    }
  }
  EXPECT_EQ(shared_bridges(node, *node.nics[0].pci, *node.nics[1].pci), 2);
  EXPECT_EQ(node.find_nic("mlx5_9")->ports[0].state, PortState::down);
  EXPECT_EQ(node.numa[5].socket, 1);
}

TEST(Machines, seed_machine_has_two_gpus_and_a_nic_on_each_switch) {
  const auto node = machine("seed-8gpu-4nic");
  ASSERT_EQ(node.gpus.size(), 8U);
  ASSERT_THAT(nic_names(node), ElementsAre("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"));
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    for (std::size_t nic = 0; nic < 4; ++nic) {
      const int expected = gpu / 2 == nic ? 2 : gpu / 4 == nic / 2 ? 0 : -1;
      EXPECT_EQ(shared_bridges(node, node.gpus[gpu].pci, *node.nics[nic].pci), expected)
          << "GPU" << gpu << " mlx5_" << nic;
    }
  }
}

TEST(Machines, hgx_roce_has_front_end_cards_on_the_switch_of_a_gpu) {
  const auto node = machine("hgx-h100-roce");
  ASSERT_EQ(node.nics.size(), 12U);
  const auto& front = *node.find_nic("mlx5_1");
  EXPECT_EQ(front.pci->str(), "0000:1b:00.0");
  EXPECT_EQ(shared_bridges(node, node.gpus[0].pci, *front.pci), 2);
  EXPECT_EQ(front.ports[0].rate_gbps, 100.0);
  EXPECT_TRUE(node.carries_main_route(front.netdevs.at(0)));
  EXPECT_EQ(front.sys_image_guid, node.find_nic("mlx5_2")->sys_image_guid);
  EXPECT_THAT(front.umads, IsEmpty());
  const auto& gids = node.find_nic("mlx5_0")->ports[0].gids;
  ASSERT_EQ(gids.size(), 4U);
  EXPECT_EQ(gids[3].value, "0000:0000:0000:0000:0000:ffff:0a0a:0007");
  EXPECT_EQ(gids[3].type, "RoCE v2");
  EXPECT_EQ(gids[3].netdev, "enp26s0np0");
}

TEST(Machines, nics_only_and_gpus_only) {
  const auto nics = machine("nics-only");
  EXPECT_THAT(nics.gpus, IsEmpty());
  EXPECT_EQ(nics.nics.size(), 4U);
  const auto gpus = machine("gpus-only");
  EXPECT_EQ(gpus.gpus.size(), 4U);
  EXPECT_THAT(gpus.nics, IsEmpty());
  EXPECT_EQ(gpus.rdma_cm, std::nullopt);
  EXPECT_EQ(gpus.rdma_netns, RdmaNetns::unknown);
}

TEST(Machines, renamed_devices_are_joined_to_their_uverbs_by_name) {
  const auto node = machine("renamed-devices");
  EXPECT_THAT(nic_names(node), ElementsAre("ibp25s0", "ibp59s0", "rocep93s0f0"));
  EXPECT_EQ(node.nics[0].uverbs.at(0).path, "/dev/infiniband/uverbs2");
  EXPECT_EQ(node.nics[0].uverbs.at(0).minor, 194U);
  EXPECT_EQ(node.nics[1].uverbs.at(0).path, "/dev/infiniband/uverbs0");
  EXPECT_EQ(node.nics[2].uverbs.at(0).path, "/dev/infiniband/uverbs1");
}

TEST(Machines, soft_roce_has_a_parent_and_no_pci_function) {
  const auto node = machine("soft-roce");
  ASSERT_EQ(node.nics.size(), 1U);
  EXPECT_EQ(node.nics[0].pci, std::nullopt);
  EXPECT_EQ(node.nics[0].numa_node, std::nullopt);
  EXPECT_EQ(node.nics[0].parent, "e0");
  EXPECT_THAT(node.nics[0].netdevs, ElementsAre("e0"));
  EXPECT_EQ(node.nics[0].firmware, std::nullopt);
  EXPECT_EQ(node.nics[0].ports.at(0).rate_gbps, 10.0);
  ASSERT_NE(node.find_netdev("e0"), nullptr);
  EXPECT_EQ(node.find_netdev("e1"), nullptr);
  EXPECT_TRUE(node.hypervisor);
}

TEST(Machines, mi300x_sit_behind_bridges_of_their_own) {
  const auto node = machine("amd-mi300x");
  ASSERT_EQ(node.gpus.size(), 8U);
  for (std::size_t at = 0; at < 8; ++at) {
    const auto& gpu = node.gpus[at];
    EXPECT_EQ(gpu.vendor, gpu::GpuVendor::amd);
    EXPECT_EQ(gpu.index, at);
    EXPECT_EQ(gpu.drm_render, 128 + at);
    EXPECT_EQ(gpu.drm_card, 1 + at);
    ASSERT_TRUE(gpu.uuid);
    EXPECT_EQ(gpu.uuid->size(), 20U);
    EXPECT_EQ(node.find_pci(gpu.pci)->bridges.size(), 5U);
    EXPECT_EQ(shared_bridges(node, gpu.pci, *node.nics[at].pci), 2);
  }
}

TEST(Machines, mig_instances_are_those_that_exist) {
  const auto node = machine("mig-a100");
  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_THAT(node.gpus[0].mig, ElementsAre(MigInstance{1, 0}, MigInstance{1, 1}, MigInstance{5, 0},
                                            MigInstance{9, std::nullopt}));
  EXPECT_THAT(node.gpus[1].mig, IsEmpty());
}

}  // namespace
}  // namespace railhead::node
