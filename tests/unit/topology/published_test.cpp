// SPDX-License-Identifier: Apache-2.0
// Machines whose PCI tree and matrix were both published. Runs where the collection is at hand:
// $RAILHEAD_CORPUS, else ../shared/corpus beside the source tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "topology/topology.h"
#include "unit/source_dir.h"
#include "unit/topology/lspci_tree.h"

namespace railhead {
namespace {

using test::Listed;

class Published : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("RAILHEAD_CORPUS");
    corpus_ = given != nullptr ? given : test::source_dir() + "/../shared/corpus";
    if (!std::filesystem::exists(corpus_)) GTEST_SKIP() << "no corpus at " << corpus_;
  }

  [[nodiscard]] std::string file(const std::string& machine, const std::string& name) const {
    return corpus_ + "/" + machine + "/" + name;
  }

 private:
  std::string corpus_;
};

/// A node of the functions whose text says "NVIDIA" or "AMD/ATI" (GPUs) and "Mellanox" (NICs).
Node node_of(std::vector<Listed> listed) {
  std::sort(listed.begin(), listed.end(),
            [](const Listed& a, const Listed& b) { return a.pci.address < b.pci.address; });
  const auto says = [](const Listed& device, const std::string& what) {
    return device.text.find(what) != std::string::npos;
  };
  Node node;
  for (const auto& device : listed) {
    const bool other = says(device, "Audio") || says(device, "NVSwitch") ||
                       says(device, "Bridge") || says(device, "bridge");
    if (other) continue;
    if (says(device, "NVIDIA") || says(device, "AMD/ATI")) {
      Gpu gpu;
      gpu.pci = device.pci.address;
      node.gpus.push_back(gpu);
    } else if (says(device, "Mellanox")) {
      Nic nic;
      nic.pci = device.pci.address;
      node.nics.push_back(nic);
    } else {
      continue;
    }
    node.pci.push_back(device.pci);
  }
  return node;
}

/// The matrix as nvidia-smi prints it, GPUs first, without NVLink.
std::vector<std::vector<std::string>> printed(const Node& node) {
  std::vector<const PciDevice*> all;
  for (const auto& gpu : node.gpus) all.push_back(node.find_pci(gpu.pci));
  for (const auto& nic : node.nics) all.push_back(node.find_pci(*nic.pci));
  std::vector<std::vector<std::string>> cells;
  for (const auto* row : all) {
    cells.emplace_back();
    for (const auto* column : all) {
      const auto relation = relation_between(node, row, column).relation;
      cells.back().emplace_back(row == column ? "X" : to_string(relation));
    }
  }
  return cells;
}

TEST_F(Published, asus_esc8000a_prints_its_matrix) {
  auto listed = test::LspciTree().read(file("asus-esc8000a-2xrtx6000ada", "lspci-tv.txt"));
  // lspci -t tells no NUMA node; the affinity columns of the matrix do.
  for (auto& device : listed) device.pci.numa_node = device.pci.address.bus < 0x80 ? 0 : 1;
  const Node node = node_of(listed);
  ASSERT_EQ(node.gpus.size(), 4U);
  ASSERT_EQ(node.nics.size(), 4U);
  EXPECT_EQ(printed(node),
            test::read_topo_matrix(file("asus-esc8000a-2xrtx6000ada", "topo-m.txt")));
}

TEST_F(Published, puget_wrx90_prints_its_matrix) {
  auto listed = test::LspciTree().read(file("puget-wrx90-threadripper", "lspci-tv.txt"));
  for (auto& device : listed) device.pci.numa_node = 0;
  const Node node = node_of(listed);
  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_EQ(printed(node), test::read_topo_matrix(file("puget-wrx90-threadripper", "topo-m.txt")));
}

TEST_F(Published, mi300x_is_nearest_to_the_nic_that_amd_documents) {
  const std::string machine = "amd-mi300x-8gpu-cx7-acceptance";
  const Node node = node_of(test::read_lspci_paths(file(machine, "lspci-PP.txt")));
  std::size_t pairs = 0;
  const auto topology = make_topology(node);
  for (const auto& line : test::read_lines(file(machine, "published-pairs.txt"))) {
    // | gpu | cpu | `GPU address` | `NIC address` | …
    const auto cells = split(line, '`');
    if (cells.size() < 4 || !PciAddress::parse(cells[1])) continue;
    ++pairs;
    for (std::size_t g = 0; g < node.gpus.size(); ++g) {
      if (node.gpus[g].pci != test::address(std::string(cells[1]))) continue;
      const auto& near = topology.gpu_nic[g];
      const auto best = std::min_element(near.begin(), near.end()) - near.begin();
      EXPECT_EQ(node.nics[static_cast<std::size_t>(best)].pci,
                test::address(std::string(cells[3])));
      EXPECT_EQ(near[static_cast<std::size_t>(best)].relation, Relation::pxb);
    }
  }
  EXPECT_EQ(pairs, 8U);
}

TEST_F(Published, hgx_h100_has_every_gpu_on_the_switch_of_its_nic) {
  const Node node = node_of(test::read_lspci_verbose(file("h100-hgx-cx7-lepton", "lspci.txt")));
  ASSERT_EQ(node.gpus.size(), 8U);
  ASSERT_EQ(node.nics.size(), 12U);
  const auto topology = make_topology(node);
  for (std::size_t g = 0; g < 8; ++g) {
    for (std::size_t n = 0; n < 12; ++n) {
      const auto* gpu = node.find_pci(node.gpus[g].pci);
      const auto* nic = node.find_pci(*node.nics[n].pci);
      const auto expected = gpu->root == nic->root             ? Relation::pix
                            : gpu->numa_node == nic->numa_node ? Relation::node
                                                               : Relation::sys;
      EXPECT_EQ(topology.gpu_nic[g][n].relation, expected) << g << " " << n;
    }
  }
}

TEST_F(Published, virtual_switches_of_a_kvm_guest_are_told_apart) {
  const Node node = node_of(test::LspciTree().read(file("h200-8gpu-pxb-kvm", "lspci-tv.txt")));
  ASSERT_EQ(node.gpus.size(), 8U);
  const auto topology = make_topology(node);
  for (const auto& row : topology.gpu_nic) {
    EXPECT_EQ(std::count_if(row.begin(), row.end(),
                            [](const Nearness& near) { return near.relation == Relation::pix; }),
              1);
    EXPECT_EQ(std::count_if(row.begin(), row.end(),
                            [](const Nearness& near) { return near.relation == Relation::phb; }),
              3);
  }
}

}  // namespace
}  // namespace railhead
