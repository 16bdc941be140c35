// SPDX-License-Identifier: Apache-2.0
// What is written for NCCL means the same machine: over every machine in the box, the relations of
// the file read back are those of sysfs, but for what the format cannot say.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "topology/layout.h"
#include "topology/place.h"
#include "unit/node/hosts.h"
#include "unit/source_dir.h"

namespace railhead::topology {
namespace {

/// A GPU or NIC by a name that survives.
using Functions = std::map<std::string, const node::PciDevice*>;

Functions functions_of(const node::Node& node) {
  Functions all;
  for (const auto& gpu : node.gpus) all[gpu.pci.str()] = node.find_pci(gpu.pci);
  for (const auto& nic : node.nics) {
    if (nic.pci && nic.registered) all[nic.name] = node.find_pci(*nic.pci);
  }
  return all;
}

/// Whether `now` is `before` as far as the format can say it.
///   PHB   host bridges do not exist in a file: NODE, unless the NUMA node is not known either
///   SYS   a NUMA node without CPUs (a GPU's own memory) is no <cpu>, the one near it is: NODE
///   SYS   functions without a NUMA node stand below one <cpu> of their own: PHB
bool means(const Nearness& before, const Nearness& now, bool numa_known) {
  if (before.relation == now.relation) return true;
  if (before.same_socket && now.relation == Relation::node) return true;
  if (numa_known) return before.relation == Relation::phb && now.relation == Relation::node;
  return before.relation == Relation::sys && now.relation == Relation::phb;
}

/// Two devices of one function are PIX.
Nearness nearness_between(const node::Node& node, const node::PciDevice* a,
                          const node::PciDevice* b) {
  Nearness near = nearness_of(place_of(node, a), place_of(node, b));
  if (a == b) near.relation = Relation::pix;
  return near;
}

/// How many pairs of devices were compared.
std::size_t check(const node::Node& before, const std::string& name) {
  const auto text = to_xml(nccl_topology_of(before));
  const auto file = parse_nccl_topology(text, name + ".xml");
  EXPECT_TRUE(file) << file.error().message;
  if (!file) return 0;
  EXPECT_TRUE(file->warnings.empty()) << name << ": " << file->warnings.front();
  EXPECT_EQ(to_xml(*file), text) << name;
  const node::Node after = node_from(*file);
  EXPECT_TRUE(after.problems.empty()) << name << ": " << after.problems.front().what;
  const auto old_functions = functions_of(before);
  const auto new_functions = functions_of(after);
  std::size_t pairs = 0;
  for (const auto& [a, old_a] : old_functions) {
    if (old_a == nullptr || old_a->root.empty()) continue;
    EXPECT_TRUE(new_functions.contains(a)) << name << ": " << a << " is lost";
    for (const auto& [b, old_b] : old_functions) {
      if (a == b || !new_functions.contains(a) || !new_functions.contains(b)) continue;
      const auto was = nearness_between(before, old_a, old_b);
      const auto is = nearness_between(after, new_functions.at(a), new_functions.at(b));
      const bool numa_known = old_a->numa_node.has_value() && old_b->numa_node.has_value();
      EXPECT_TRUE(means(was, is, numa_known))
          << name << ": " << a << " " << b << " were " << to_string(was.relation) << " and are "
          << to_string(is.relation);
      ++pairs;
    }
  }
  return pairs;
}

TEST(NcclRoundTrip, every_machine_in_the_box_is_the_same_machine) {
  std::size_t pairs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_dir() + "/tests/nodes")) {
    if (entry.path().extension() != ".node") continue;
    const auto name = entry.path().stem().string();
    node::Node node = test::machine(name);
    // NICs are only named where the processor is known.
    if (!node.cpu.arch) node.cpu = {"x86_64", "GenuineIntel", 6, 143};
    pairs += check(node, name);
  }
  EXPECT_GT(pairs, 1000U);
}

}  // namespace
}  // namespace railhead::topology
