// SPDX-License-Identifier: Apache-2.0
#include "topology/known_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/known_machines_text.h"
#include "topology/topology.h"
#include "unit/topology/virtual_machines.h"

namespace railhead::topology {
namespace {

using test::known;
using test::machine_of;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kEntry =
    "machines:\n"
    "  - name: A\n"
    "    source: here\n"
    "    vendor: V*\n"
    "    gpuIds: [10de:2330]\n"
    "    gpus: 1\n"
    "    nics: 1\n"
    "    switches:\n"
    "      - {numa: 0, gpus: [0001:00:00.0], nics: [0002:00:00.0]}\n";

/// kEntry with one line replaced.
std::string entry_with(std::string_view old_text, std::string_view new_text) {
  std::string text(kEntry);
  return text.replace(text.find(old_text), old_text.size(), new_text);
}

std::string table_error(const std::string& text) {
  const auto parsed = parse_known_machines(text, "table.yaml");
  return parsed ? "no error" : parsed.error().message;
}

TEST(KnownMachine, the_table_in_the_program_parses_and_no_name_stands_twice) {
  const auto parsed = parse_known_machines(known_machines_text(), "known_machines.yaml");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(*parsed, SizeIs(known_machines().size()));
  std::set<std::string> names;
  for (const auto& machine : *parsed) names.insert(machine.name);
  EXPECT_THAT(names, SizeIs(parsed->size()));
  EXPECT_GE(names.size(), 15U);
}

/// The sizes of both guides for AKS, with the RDMA that they say.
TEST(KnownMachine, the_sizes_of_the_guides_are_in_the_table) {
  const std::map<std::string, std::pair<unsigned, unsigned>> wanted = {
      {"Standard_NC24ads_A100_v4", {1, 0}},
      {"Standard_ND96asr_v4", {8, 200}},
      {"Standard_ND96amsr_A100_v4", {8, 200}},
      {"Standard_ND96isr_H100_v5", {8, 400}},
      {"Standard_ND96isr_H200_v5", {8, 400}}};
  for (const auto& [name, expected] : wanted) {
    const auto known = find_size(name, known_machines());
    ASSERT_NE(known.size, nullptr) << name;
    EXPECT_EQ(known.size->gpus, expected.first) << name;
    EXPECT_EQ(known.machine->gbps, expected.second) << name;
    EXPECT_EQ(known.machine->nics > 0, expected.second > 0) << name;
  }
  EXPECT_EQ(find_size("Standard_D2s_v5", known_machines()).size, nullptr);
}

/// Of other clouds: GPUs, NICs, and the rate where sysfs has one that is stated.
TEST(KnownMachine, sizes_of_other_clouds_are_in_the_table) {
  struct Size {
    unsigned gpus, nics, gbps;
  };

  const std::map<std::string, Size> wanted = {{"Standard_ND40rs_v2", {8, 1, 100}},
                                              {"Standard_ND96isr_MI300X_v5", {8, 8, 400}},
                                              {"Standard_ND96is_H100_v5", {8, 0, 0}},
                                              {"Standard_NC80adis_H100_v5", {2, 0, 0}},
                                              {"p3dn.24xlarge", {8, 1, 0}},
                                              {"p4d.24xlarge", {8, 4, 0}},
                                              {"p5.4xlarge", {1, 1, 0}},
                                              {"p5.48xlarge", {8, 32, 0}},
                                              {"p5e.48xlarge", {8, 32, 0}},
                                              {"p5en.48xlarge", {8, 16, 0}},
                                              {"p6-b200.48xlarge", {8, 8, 0}},
                                              {"p6-b300.48xlarge", {8, 16, 0}},
                                              {"a3-highgpu-4g", {4, 0, 0}},
                                              {"a3-megagpu-8g", {8, 0, 0}},
                                              {"a3-ultragpu-8g", {8, 8, 0}},
                                              {"a4-highgpu-8g", {8, 8, 0}},
                                              {"a4x-highgpu-4g", {4, 4, 0}},
                                              {"BM.GPU4.8", {8, 16, 100}},
                                              {"BM.GPU.H100.8", {8, 16, 200}},
                                              {"BM.GPU.H200.8", {8, 8, 400}},
                                              {"BM.GPU.B300.8", {8, 16, 400}},
                                              {"BM.GPU.GB200.4", {4, 4, 400}}};
  for (const auto& [name, expected] : wanted) {
    const auto known = find_size(name, known_machines());
    ASSERT_NE(known.size, nullptr) << name;
    EXPECT_EQ(known.size->gpus, expected.gpus) << name;
    EXPECT_EQ(known.machine->nics, expected.nics) << name;
    EXPECT_EQ(known.machine->gbps, expected.gbps) << name;
  }
}

TEST(KnownMachine, no_size_stands_in_two_entries) {
  std::set<std::string> names;
  for (const auto& machine : known_machines()) {
    for (const auto& size : machine.sizes) {
      EXPECT_TRUE(names.insert(size.name).second) << size.name;
    }
  }
}

TEST(KnownMachine, an_entry_by_name_alone_has_sizes_and_nothing_of_a_node) {
  const std::string entry =
      "machines:\n  - name: A\n    source: here\n    sizes: {S: 1}\n    gpus: 1\n    nics: 1\n";
  EXPECT_EQ(table_error(entry), "no error");
  EXPECT_THAT(table_error(entry + "    vendor: V*\n"), HasSubstr("no gpuIds"));
  EXPECT_THAT(table_error(entry + "    treeIsReal: true\n"), HasSubstr("no gpuIds"));
  EXPECT_THAT(table_error(entry_with("    gpuIds: [10de:2330]\n", "")), HasSubstr("no gpuIds"));
}

TEST(KnownMachine, a_size_has_no_more_gpus_than_the_machine) {
  EXPECT_THAT(table_error(entry_with("    gpus: 1\n", "    sizes: {S: 2}\n    gpus: 1\n")),
              HasSubstr("a size with other GPUs than it has"));
  EXPECT_THAT(table_error(entry_with("    gpus: 1\n", "    sizes: 3\n    gpus: 1\n")),
              HasSubstr("sizes: line 6: no map"));
}

TEST(KnownMachine, every_entry_is_found_by_machines_of_its_shape_alone) {
  for (const auto& machine : known_machines()) {
    if (machine.by_name_alone()) continue;
    const auto* found = find_known_machine(machine_of(machine), known_machines());
    ASSERT_NE(found, nullptr) << machine.name;
    EXPECT_EQ(found->name, machine.name);
  }
}

TEST(KnownMachine, every_entry_names_a_public_source) {
  for (const auto& machine : known_machines()) {
    EXPECT_THAT(machine.source, testing::StartsWith("https://")) << machine.name;
  }
}

TEST(KnownMachine, gpus_and_nics_may_be_missing) {
  const auto& machine = known("Azure ND H100 v5");
  node::Node node = machine_of(machine);
  node.gpus.erase(node.gpus.begin() + 3);
  node.nics.erase(node.nics.begin());
  EXPECT_EQ(find_known_machine(node, known_machines()), &machine);
}

TEST(KnownMachine, a_gpu_where_it_has_none_is_another_machine) {
  node::Node node = machine_of(known("Azure ND H100 v5"));
  const auto from = node.gpus[0].pci;
  const node::PciAddress to{0x77, 0, 0, 0};
  node.gpus[0].pci = to;
  for (auto& device : node.pci) {
    if (device.address == from) device.address = to;
  }
  std::ranges::sort(node.pci, [](const node::PciDevice& a, const node::PciDevice& b) {
    return a.address < b.address;
  });
  EXPECT_EQ(find_known_machine(node, known_machines()), nullptr);
}

TEST(KnownMachine, front_end_nics_elsewhere_do_not_matter) {
  auto b = test::builder_of(known("Azure ND H100 v5"));
  b.nic(b.host_bridge(0, 0, 0x8d06)).ethernet(100);
  EXPECT_NE(find_known_machine(b.build(), known_machines()), nullptr);
}

TEST(KnownMachine, the_size_follows_from_the_gpus_where_dmi_does_not_say) {
  node::Node node = machine_of(known("Azure ND H100 v5"));
  for (auto& device : node.pci) {
    if (device.vendor == 0x10de) device.device = 0x2335;
  }
  EXPECT_EQ(find_known_machine(node, known_machines()), &known("Azure ND H200 v5"));
}

TEST(KnownMachine, dmi_that_cannot_be_read_fits_nothing) {
  node::Node node = machine_of(known("Azure ND H100 v5"));
  node.dmi.chassis_asset_tag.reset();
  EXPECT_EQ(find_known_machine(node, known_machines()), nullptr);
}

TEST(KnownMachine, a_real_tree_needs_the_right_number_of_gpus) {
  const auto& machine = known("OCI BM.GPU4.8 or BM.GPU.B4.8");
  node::Node node = machine_of(machine);
  EXPECT_EQ(find_known_machine(node, known_machines()), &machine);
  node.gpus.pop_back();
  EXPECT_EQ(find_known_machine(node, known_machines()), nullptr);
}

TEST(KnownMachine, a_real_tree_that_is_sold_whole_alone_may_lack_a_gpu) {
  const auto& machine = known("AWS p5.48xlarge");
  node::Node node = machine_of(machine);
  node.gpus.pop_back();
  EXPECT_EQ(find_known_machine(node, known_machines()), &machine);
}

TEST(KnownMachine, a_machine_without_gpus_is_none) {
  node::Node node = machine_of(known("Azure ND H100 v5"));
  node.gpus.clear();
  EXPECT_EQ(find_known_machine(node, known_machines()), nullptr);
}

TEST(KnownMachine, its_layout_pairs_each_gpu_with_the_nic_of_its_switch) {
  const auto& machine = known("Azure ND A100 v4");
  const node::Node node = moved(machine_of(machine), layout_of(machine));
  const auto topology = make_topology(node);
  // GPU 0001 and 0002 are on NUMA node 1 with NIC 0101 and 0102, 0003 and 0004 on node 0.
  EXPECT_EQ(topology.gpu_nic[0][0].relation, Relation::pix);
  EXPECT_EQ(topology.gpu_nic[0][1].relation, Relation::pix);
  EXPECT_EQ(topology.gpu_nic[0][2].relation, Relation::sys);
  EXPECT_EQ(topology.gpu_nic[2][2].relation, Relation::pix);
  EXPECT_EQ(node.gpus[0].numa_node, 1);
  EXPECT_EQ(node.gpus[2].numa_node, 0);
  // 000b and 000c with 0105 and 0106 on node 3.
  EXPECT_EQ(topology.gpu_nic[4][4].relation, Relation::pix);
  EXPECT_EQ(topology.gpu_nic[4][6].relation, Relation::sys);
}

TEST(KnownMachine, its_layout_keeps_switches_of_one_numa_node_apart) {
  const auto& machine = known("Azure ND H100 v5");
  const auto topology = make_topology(moved(machine_of(machine), layout_of(machine)));
  EXPECT_EQ(topology.gpu_nic[0][0].relation, Relation::pix);
  EXPECT_EQ(topology.gpu_nic[0][1].relation, Relation::node);
  EXPECT_EQ(topology.gpu_nic[0][4].relation, Relation::sys);
}

TEST(KnownMachine, a_device_alone_gets_a_numa_node_and_no_bridge) {
  const auto layout = layout_of(known("Azure NDv2"));
  ASSERT_THAT(layout.positions, SizeIs(9));
  for (const auto& position : layout.positions) EXPECT_THAT(position.bridges, IsEmpty());
}

TEST(KnownMachine, its_layout_has_each_address_once_in_order) {
  for (const auto& machine : known_machines()) {
    const auto layout = layout_of(machine);
    EXPECT_TRUE(std::ranges::is_sorted(layout.positions, [](const Position& a, const Position& b) {
      return !(b.function < a.function) && a.function != b.function;
    })) << machine.name;
  }
}

TEST(KnownMachine, mistakes_in_a_table_are_named_with_line_and_key) {
  EXPECT_EQ(table_error(std::string(kEntry)), "no error");
  EXPECT_EQ(table_error(entry_with("gpus: 1", "gpus: 2")),
            "table.yaml: line 2: \"A\": the switches have 1 GPUs");
  EXPECT_EQ(table_error(entry_with("nics: 1", "nics: 2")),
            "table.yaml: line 2: \"A\": the switches have 1 NICs");
  EXPECT_THAT(table_error(entry_with("0002:00:00.0", "0001:00:00.0")), HasSubstr("stands twice"));
  EXPECT_THAT(table_error(entry_with("source: here", "source: ''")), HasSubstr("no source"));
  EXPECT_THAT(table_error(entry_with("10de:2330", "10de:233")), HasSubstr("line 5"));
  EXPECT_THAT(table_error(entry_with("0002:00:00.0", "2:0:0")), HasSubstr("nics: "));
  EXPECT_THAT(table_error(entry_with("vendor: V*", "vendro: V*")),
              HasSubstr("line 4: there is no key \"vendro\""));
  EXPECT_THAT(table_error(entry_with("    vendor: V*\n", "")), HasSubstr("no DMI string"));
  EXPECT_THAT(table_error(entry_with("nics: 1", "nics: 1\n    treeIsReal: true")),
              HasSubstr("either treeIsReal or switches"));
  EXPECT_THAT(table_error(entry_with("numa: 0, ", "")), HasSubstr("line 9"));
  const std::string before_switches(kEntry.substr(0, kEntry.find("    switches:")));
  EXPECT_THAT(table_error(before_switches + "    treeIsReal: true\n    switches: {}\n"),
              HasSubstr("switches: line 9: no list of at most 32"));
  EXPECT_THAT(table_error("machines: 5"), HasSubstr("expected one list"));
  EXPECT_THAT(table_error("- 1\n- 2"), Not(HasSubstr("no error")));
  EXPECT_THAT(table_error("["), HasSubstr("table.yaml: "));
}

}  // namespace
}  // namespace railhead::topology
