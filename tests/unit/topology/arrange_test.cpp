// SPDX-License-Identifier: Apache-2.0
#include "topology/arrange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/machines.h"
#include "unit/topology/virtual_machines.h"

namespace railhead::topology {
namespace {

using test::known;
using test::machine_of;
using test::NodeBuilder;
using test::Slot;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A virtual machine of no known type: `gpus` GPUs and as many NICs, each function on a PCI domain
/// of its own (GPUs from 1, NICs from 0x11), half of them on each NUMA node.
NodeBuilder own_domains(unsigned gpus = 4) {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1);
  b.raw().hypervisor = true;
  for (unsigned i = 0; i < gpus; ++i) {
    const int numa = i < gpus / 2 ? 0 : 1;
    b.gpu(b.host_bridge(0, numa, 0x1 + i));
    b.nic(b.host_bridge(0, numa, 0x11 + i));
  }
  return b;
}

std::string pci_in_domain(std::uint32_t domain, const std::string& class_code) {
  return "<pci busid=\"" + node::PciAddress{domain, 0, 0, 0}.str() + "\" class=\"" + class_code +
         "\"/>";
}

/// A file with one switch a pair of PCI domains of GPU and NIC, all on NUMA node 0.
std::string file_of(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  std::string text = "<system version=\"1\"><cpu numaid=\"0\">";
  unsigned number = 1;
  for (const auto& [gpu, nic] : pairs) {
    text += "<pci busid=\"ffff:ff:0" + std::to_string(number++) + ".0\" class=\"0x060400\">" +
            pci_in_domain(gpu, "0x030200") + pci_in_domain(nic, "0x020700") + "</pci>";
  }
  return text + "</cpu></system>\n";
}

/// GPU i belongs to the last NIC but i: no order of addresses finds that.
const std::string kCrossed = file_of({{1, 0x14}, {2, 0x13}, {3, 0x12}, {4, 0x11}});

NcclTopology operators_file(const std::string& text) {
  auto file = parse_nccl_topology(text, "/etc/topo.xml");
  if (!file) ADD_FAILURE() << file.error().message;
  return std::move(file).value();
}

node::Node with_file(NodeBuilder b, const std::string& text) {
  b.raw().nccl_file = node::TextFile{"/opt/topo.xml", text};
  return b.build();
}

Relation gpu_nic(const Arrangement& arrangement, std::size_t gpu, std::size_t nic) {
  return make_topology(arrangement).gpu_nic.at(gpu).at(nic).relation;
}

TEST(HidesSwitches, one_pci_domain_a_function_does) {
  EXPECT_TRUE(hides_switches(own_domains().build()));
}

TEST(HidesSwitches, a_flat_root_bus_with_a_root_port_each_does) {
  NodeBuilder b;
  b.raw().hypervisor = true;
  const Slot root = b.host_bridge(0, std::nullopt);
  b.gpu(b.bridge(root));
  b.nic(b.bridge(root));
  EXPECT_TRUE(hides_switches(b.build()));
}

TEST(HidesSwitches, several_flat_root_buses_without_ports_do) {
  NodeBuilder b;
  b.raw().hypervisor = true;
  for (const int numa : {0, 1}) {
    const Slot root = b.host_bridge(0, numa, 2U + static_cast<unsigned>(numa));
    b.gpu(root);
    b.nic(root);
  }
  EXPECT_TRUE(hides_switches(b.build()));
}

TEST(HidesSwitches, bare_metal_with_nothing_but_root_ports_is_believed) {
  EXPECT_FALSE(hides_switches(test::eight_gpus_four_nics().build()));
}

TEST(HidesSwitches, one_pair_below_a_common_bridge_is_a_tree) {
  auto b = own_domains();
  const Slot below = b.pcie_switch(b.bridge(b.host_bridge(0x40, 0)));
  b.gpu(b.bridge(below));
  b.nic(b.bridge(below));
  EXPECT_FALSE(hides_switches(b.build()));
}

TEST(HidesSwitches, without_gpus_or_nics_there_is_nothing_to_hide) {
  node::Node node = own_domains().build();
  node.gpus.clear();
  EXPECT_FALSE(hides_switches(node));
  node = own_domains().build();
  node.nics.clear();
  EXPECT_FALSE(hides_switches(node));
}

TEST(Arrange, bare_metal_is_as_sysfs_has_it) {
  const node::Node node = test::dgx_h100().build();
  const auto result = arrange(node);
  EXPECT_EQ(result.node, node);
  EXPECT_EQ(result.source, TopologySource::pci_tree);
  EXPECT_EQ(result.confidence, Confidence::high);
  EXPECT_EQ(result.origin, "");
  EXPECT_FALSE(result.for_nccl);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Arrange, switches_of_an_unknown_virtual_machine_are_believed_less) {
  auto b = test::dgx_h100();
  b.raw().hypervisor = true;
  const auto result = arrange(b.build());
  EXPECT_EQ(result.source, TopologySource::pci_tree);
  EXPECT_EQ(result.confidence, Confidence::medium);
}

TEST(Arrange, a_real_tree_of_a_known_machine_is_believed) {
  const auto result = arrange(machine_of(known("AWS p5.48xlarge")));
  EXPECT_EQ(result.source, TopologySource::pci_tree);
  EXPECT_EQ(result.confidence, Confidence::high);
  EXPECT_EQ(result.origin, "AWS p5.48xlarge");
  EXPECT_FALSE(result.for_nccl);
}

TEST(Arrange, a_known_machine_without_common_switches_is_believed) {
  auto b = test::builder_of(known("AWS g6.48xlarge"));
  b.nic(b.bridge(b.host_bridge(0xf0, 0)));
  ASSERT_TRUE(hides_switches(b.build()));
  const auto result = arrange(b.build());
  EXPECT_EQ(result.source, TopologySource::pci_tree);
  EXPECT_EQ(result.confidence, Confidence::high);
}

TEST(Arrange, a_known_machine_that_hides_switches_is_taken_from_the_table) {
  const auto result = arrange(machine_of(known("Azure ND A100 v4")));
  EXPECT_EQ(result.source, TopologySource::machine_table);
  EXPECT_EQ(result.confidence, Confidence::high);
  EXPECT_EQ(result.origin, "Azure ND A100 v4");
  EXPECT_TRUE(result.for_nccl);
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_EQ(gpu_nic(result, 2, 2), Relation::pix);
}

TEST(Arrange, the_nodes_own_file_comes_before_the_table) {
  const auto& machine = known("Azure ND A100 v4");
  auto b = test::builder_of(machine);
  const std::string pairs = file_of({{0x1, 0x101},
                                     {0x2, 0x102},
                                     {0x3, 0x103},
                                     {0x4, 0x104},
                                     {0xb, 0x105},
                                     {0xc, 0x106},
                                     {0xd, 0x107},
                                     {0xe, 0x108}});
  const auto result = arrange(with_file(b, pairs));
  EXPECT_EQ(result.source, TopologySource::topology_file);
  EXPECT_EQ(result.origin, "/opt/topo.xml");
  EXPECT_EQ(result.confidence, Confidence::high);
  EXPECT_TRUE(result.for_nccl);
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_EQ(gpu_nic(result, 0, 0), Relation::pix);
  EXPECT_EQ(gpu_nic(result, 0, 1), Relation::node);
}

TEST(Arrange, the_table_written_as_a_file_says_the_same) {
  for (const auto& machine : known_machines()) {
    if (machine.by_name_alone() || machine.tree_is_real || machine.nics == 0) continue;
    auto b = test::builder_of(machine);
    b.raw().cpu = {"x86_64", "GenuineIntel", 6, 143};
    const auto by_table = arrange(b.build());
    ASSERT_EQ(by_table.source, TopologySource::machine_table) << machine.name;
    const auto by_file = arrange(with_file(b, to_xml(nccl_topology_of(by_table.node))));
    EXPECT_EQ(by_file.source, TopologySource::topology_file) << machine.name;
    EXPECT_THAT(by_file.warnings, IsEmpty()) << machine.name;
    for (std::size_t g = 0; g < by_table.node.gpus.size(); ++g) {
      for (std::size_t n = 0; n < by_table.node.nics.size(); ++n) {
        EXPECT_EQ(gpu_nic(by_file, g, n), gpu_nic(by_table, g, n)) << machine.name;
      }
    }
  }
}

TEST(Arrange, a_file_that_contradicts_the_table_counts_and_is_reported) {
  auto b = test::builder_of(known("Azure ND H100 v5"));
  const auto result = arrange(with_file(b, file_of({{0x1, 0x108},
                                                    {0x2, 0x102},
                                                    {0x3, 0x103},
                                                    {0x8, 0x104},
                                                    {0x9, 0x105},
                                                    {0xa, 0x106},
                                                    {0xb, 0x107},
                                                    {0xc, 0x101}})));
  EXPECT_EQ(result.source, TopologySource::topology_file);
  EXPECT_THAT(result.warnings,
              ElementsAre("/opt/topo.xml contradicts the table's Azure ND H100 v5 on GPUs "
                          "0001:00:00.0, 000c:00:00.0; the file counts"));
}

TEST(Arrange, the_nodes_own_file_pairs_what_nothing_else_pairs) {
  const auto result = arrange(with_file(own_domains(), kCrossed));
  EXPECT_EQ(result.source, TopologySource::topology_file);
  EXPECT_EQ(gpu_nic(result, 0, 3), Relation::pix);
  EXPECT_EQ(gpu_nic(result, 3, 0), Relation::pix);
  EXPECT_EQ(result.node.gpus[3].numa_node, 1) << "the file has one <cpu> for the whole machine";
}

TEST(Arrange, the_nodes_own_file_is_not_asked_where_sysfs_shows_switches) {
  auto b = test::dgx_h100();
  b.raw().nccl_file = node::TextFile{"/opt/topo.xml", "no XML at all"};
  const auto result = arrange(b.build());
  EXPECT_EQ(result.source, TopologySource::pci_tree);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Arrange, a_file_that_is_none_gives_way_with_a_warning) {
  const auto result = arrange(with_file(test::builder_of(known("Azure ND A100 v4")), "<system"));
  EXPECT_EQ(result.source, TopologySource::machine_table);
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_THAT(result.warnings[0], HasSubstr("/opt/topo.xml"));
  EXPECT_THAT(result.warnings[0], HasSubstr("the file is not used"));
}

TEST(Arrange, a_file_of_another_machine_gives_way_with_a_warning) {
  const auto result = arrange(with_file(own_domains(), file_of({{1, 0x11}, {2, 0x12}})));
  EXPECT_EQ(result.source, TopologySource::numa);
  ASSERT_THAT(result.warnings, SizeIs(2));
  EXPECT_EQ(result.warnings[0],
            "/opt/topo.xml is not used: it does not know GPUs 0003:00:00.0, 0004:00:00.0");
}

TEST(Arrange, a_nic_that_the_file_leaves_out_stays_where_it_is) {
  auto b = own_domains();
  b.nic(b.host_bridge(0, 1, 0x15)).name("extra");
  const auto result = arrange(with_file(b, kCrossed));
  EXPECT_EQ(result.source, TopologySource::topology_file);
  EXPECT_EQ(result.confidence, Confidence::medium);
  EXPECT_THAT(result.warnings,
              ElementsAre("/opt/topo.xml leaves out extra; there the PCI tree counts"));
}

TEST(Arrange, a_file_that_contradicts_itself_is_believed_less) {
  const auto result = arrange(
      with_file(own_domains(), file_of({{1, 0x14}, {2, 0x13}, {3, 0x12}, {4, 0x11}, {1, 0x11}})));
  EXPECT_EQ(result.source, TopologySource::topology_file);
  EXPECT_EQ(result.confidence, Confidence::medium);
  EXPECT_THAT(result.warnings, Each(HasSubstr("/opt/topo.xml: ")));
  EXPECT_THAT(result.warnings, testing::Not(IsEmpty()));
}

TEST(Arrange, random_pci_domains_are_low) {
  NodeBuilder b;
  b.raw().hypervisor = true;
  b.gpu(b.host_bridge(0, 0, 0xa2b3));
  b.nic(b.host_bridge(0, 0, 0x51c0));
  const auto result = arrange(with_file(b, file_of({{0xa2b3, 0x51c0}})));
  EXPECT_EQ(result.source, TopologySource::topology_file);
  EXPECT_EQ(result.confidence, Confidence::low);
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("at random")));
}

TEST(Arrange, the_operators_file_comes_before_everything) {
  const auto file = operators_file(kCrossed);
  const auto result = arrange(with_file(own_domains(), "<broken"), file);
  EXPECT_EQ(result.source, TopologySource::topology_file);
  EXPECT_EQ(result.origin, "/etc/topo.xml");
  EXPECT_EQ(result.confidence, Confidence::high);
  EXPECT_TRUE(result.for_nccl);
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_EQ(gpu_nic(result, 0, 3), Relation::pix);
}

TEST(Arrange, the_file_for_nccl_is_without_the_process_that_wrote_it) {
  std::string dumped = kCrossed;
  const std::string gpu = pci_in_domain(1, "0x030200");
  dumped.replace(dumped.find(gpu), gpu.size(),
                 gpu.substr(0, gpu.size() - 2) + "><gpu dev=\"5\" sm=\"90\" rank=\"5\"/></pci>");
  const auto by_operator = arrange(own_domains().build(), operators_file(dumped));
  ASSERT_TRUE(by_operator.for_nccl);
  NcclTopology wanted = operators_file(kCrossed);
  wanted.cpus[0].affinity = "00000001";  // which the machine knows and the file does not
  EXPECT_EQ(to_xml(*by_operator.for_nccl), to_xml(wanted));
  const auto by_node = arrange(with_file(own_domains(), dumped));
  ASSERT_TRUE(by_node.for_nccl);
  EXPECT_EQ(to_xml(*by_node.for_nccl), to_xml(wanted));
}

TEST(Arrange, what_nccl_is_told_by_a_file_has_the_version_of_the_gpus) {
  node::Node node = own_domains().build();
  for (auto& gpu : node.gpus) gpu.vendor = gpu::GpuVendor::amd;
  const auto result = arrange(node, operators_file(kCrossed));
  ASSERT_TRUE(result.for_nccl);
  EXPECT_EQ(result.for_nccl->version, kRcclVersion);
}

TEST(Arrange, on_bare_metal_the_operators_file_beats_the_tree_and_warns) {
  NodeBuilder b;
  for (const std::uint8_t bus : {std::uint8_t{0x10}, std::uint8_t{0x20}}) {
    const Slot below = b.pcie_switch(b.bridge(b.host_bridge(bus, 0)));
    b.gpu(b.bridge(below));
    b.nic(b.bridge(below));
  }
  const node::Node node = b.build();
  const auto name = [](const node::PciAddress& address) {
    return "<pci busid=\"" + address.str() + "\" class=\"0x030200\"/>";
  };
  const auto file = operators_file(
      "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"ffff:ff:01.0\" class=\"0x060400\">" +
      name(node.gpus[0].pci) + name(*node.nics[1].pci) +
      "</pci><pci busid=\"ffff:ff:02.0\" class=\"0x060400\">" + name(node.gpus[1].pci) +
      name(*node.nics[0].pci) + "</pci></cpu></system>");
  const auto result = arrange(node, file);
  EXPECT_EQ(result.source, TopologySource::topology_file);
  EXPECT_FALSE(result.for_nccl);
  EXPECT_EQ(gpu_nic(result, 0, 1), Relation::pix);
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_THAT(result.warnings[0], HasSubstr("/etc/topo.xml contradicts the PCI tree on GPUs "));
}

TEST(Arrange, an_operators_file_of_another_machine_yields_to_the_tree) {
  const auto result = arrange(test::dgx_h100().build(), operators_file(kCrossed));
  EXPECT_EQ(result.source, TopologySource::pci_tree);
  ASSERT_THAT(result.warnings, SizeIs(1));
  EXPECT_THAT(result.warnings[0], HasSubstr("/etc/topo.xml is not used: it does not know GPUs "));
}

/// dgx_h100 as a file that has these NUMA nodes, first and second half.
NcclTopology dgx_h100_with_numa(int first, int second) {
  node::Node node = test::dgx_h100().build();
  node.cpu = {"x86_64", "GenuineIntel", 6, 143};
  NcclTopology file = nccl_topology_of(node);
  file.origin = "/etc/topo.xml";
  for (auto& cpu : file.cpus) cpu.numa_node = cpu.numa_node == 0 ? first : second;
  return file;
}

TEST(Arrange, numa_nodes_of_sysfs_count_where_the_tree_is_real) {
  const node::Node node = test::dgx_h100().build();
  const auto result = arrange(node, dgx_h100_with_numa(0, 0));
  EXPECT_EQ(result.source, TopologySource::topology_file);
  for (std::size_t g = 0; g < 8; ++g) {
    EXPECT_EQ(result.node.gpus[g].numa_node, node.gpus[g].numa_node);
  }
  EXPECT_EQ(gpu_nic(result, 0, 11), Relation::sys);
  EXPECT_THAT(result.numa_of_sysfs, IsEmpty());
}

TEST(Arrange, numa_nodes_that_do_not_exist_are_reported_and_ignored) {
  const auto result = arrange(test::dgx_h100().build(), dgx_h100_with_numa(0, 9));
  EXPECT_THAT(result.warnings, ElementsAre("/etc/topo.xml names NUMA node 9, which this machine "
                                           "does not have; there sysfs counts"));
  EXPECT_EQ(result.confidence, Confidence::medium);
  EXPECT_EQ(result.node.gpus[7].numa_node, 1);
}

TEST(Arrange, numa_nodes_of_a_file_count_where_sysfs_has_none) {
  node::Node node = test::dgx_h100().build();
  for (auto& device : node.pci) device.numa_node.reset();
  for (auto& gpu : node.gpus) gpu.numa_node.reset();
  for (auto& nic : node.nics) nic.numa_node.reset();
  const auto result = arrange(node, dgx_h100_with_numa(0, 1));
  EXPECT_EQ(result.node.gpus[0].numa_node, 0);
  EXPECT_EQ(result.node.gpus[7].numa_node, 1);
  EXPECT_EQ(gpu_nic(result, 0, 11), Relation::sys);
}

TEST(Arrange, the_kubelet_gets_numa_nodes_of_sysfs_and_not_of_the_table) {
  const node::Node node = machine_of(known("Azure ND A100 v4"));
  const auto result = arrange(node);
  ASSERT_EQ(result.source, TopologySource::machine_table);
  EXPECT_NE(result.node.gpus, node.gpus);
  const node::Node numbered = with_numa_of_sysfs(result);
  EXPECT_EQ(numbered.gpus, node.gpus);
  EXPECT_EQ(numbered.nics, node.nics);
  EXPECT_EQ(numbered.find_pci(node.gpus[7].pci)->numa_node, 0);
}

TEST(Arrange, table_that_knows_no_nic_of_the_machine_is_not_used) {
  node::Node node = machine_of(known("Azure ND A100 v4"));
  for (auto& nic : node.nics) {
    auto& device = *std::ranges::find_if(
        node.pci, [&](const node::PciDevice& pci) { return pci.address == *nic.pci; });
    device.address.domain += 0x7e00;
    nic.pci = device.address;
  }
  std::ranges::sort(node.pci, [](const auto& a, const auto& b) { return a.address < b.address; });
  const auto result = arrange(node);
  EXPECT_EQ(result.source, TopologySource::numa);
  EXPECT_EQ(result.confidence, Confidence::low);
  EXPECT_EQ(result.warnings.at(0),
            "the table's Azure ND A100 v4 is not used: it knows no NIC of this machine");
}

TEST(Arrange, table_that_leaves_out_a_nic_of_its_model_is_believed_less) {
  auto b = test::builder_of(known("Azure ND A100 v4"));
  b.nic(b.host_bridge(0, 0, 0x200)).name("extra");
  const auto result = arrange(b.build());
  EXPECT_EQ(result.source, TopologySource::machine_table);
  EXPECT_EQ(result.confidence, Confidence::medium);
  EXPECT_THAT(result.warnings, ElementsAre("the table's Azure ND A100 v4 leaves out extra; there "
                                           "the PCI tree counts"));
}

TEST(Arrange, machine_of_a_known_type_has_the_number_of_its_nics) {
  EXPECT_EQ(arrange(machine_of(known("AWS p5.48xlarge"))).machine_nics, 32U);
  EXPECT_EQ(make_topology(arrange(machine_of(known("Azure ND A100 v4")))).machine,
            "Azure ND A100 v4");
  EXPECT_EQ(arrange(test::dgx_h100().build()).machine_nics, 0U);
}

TEST(Arrange, where_nothing_is_known_numa_nodes_decide) {
  const node::Node node = own_domains().build();
  const auto result = arrange(node);
  EXPECT_EQ(result.source, TopologySource::numa);
  EXPECT_EQ(result.confidence, Confidence::low);
  EXPECT_FALSE(result.for_nccl);
  EXPECT_EQ(result.node, node);
  EXPECT_THAT(result.warnings, SizeIs(1));
  EXPECT_EQ(gpu_nic(result, 0, 1), Relation::node);
  EXPECT_EQ(gpu_nic(result, 0, 2), Relation::sys);
}

TEST(Arrange, one_gpu_and_one_nic_a_numa_node_need_no_switch) {
  const auto result = arrange(own_domains(2).build());
  EXPECT_EQ(result.source, TopologySource::numa);
  EXPECT_EQ(result.confidence, Confidence::medium);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Arrange, the_topology_has_its_source_and_the_worse_confidence) {
  node::Node node = machine_of(known("Azure ND A100 v4"));
  auto arrangement = arrange(node);
  const auto topology = make_topology(arrangement);
  EXPECT_EQ(topology.source, TopologySource::machine_table);
  EXPECT_EQ(topology.origin, "Azure ND A100 v4");
  EXPECT_EQ(topology.confidence, Confidence::high);

  arrangement.warnings = {"first"};
  for (auto& device : arrangement.node.pci) {
    if (device.address == arrangement.node.gpus[0].pci) device.root.clear();
  }
  const auto worse = make_topology(arrangement);
  EXPECT_EQ(worse.confidence, Confidence::low);
  ASSERT_THAT(worse.warnings, SizeIs(2));
  EXPECT_EQ(worse.warnings[0], "first");
}

}  // namespace
}  // namespace railhead::topology
