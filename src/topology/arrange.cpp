// SPDX-License-Identifier: Apache-2.0
#include "topology/arrange.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "topology/contradiction.h"
#include "topology/known_machine.h"
#include "topology/layout.h"
#include "topology/layout_fit.h"
#include "topology/nccl_hardware.h"
#include "topology/numa_source.h"

namespace railhead::topology {
namespace {

/// What else is known of the machine that a file can be held against.
struct Reference {
  node::Node node;
  std::string name;  ///< "the PCI tree", "the table's Azure NDv2"
};

/// What is known before a source is chosen.
struct Situation {
  const node::Node& node;
  const KnownMachine* machine = nullptr;  ///< nullptr: of no known type
  bool real = false;                      ///< the tree of sysfs is the machine's
  std::optional<Reference> reference{};
};

Confidence worse(Confidence a, Confidence b) {
  return std::max(a, b);
}

/// sysfs where it is true, else the table where it fits; absent where neither says anything.
std::optional<Reference> reference_for(const Situation& now) {
  if (now.real) return Reference{now.node, "the PCI tree"};
  if (now.machine == nullptr) return std::nullopt;
  const Layout layout = layout_of(*now.machine);
  if (!fit_of(layout, now.node).refusal.empty()) return std::nullopt;
  return Reference{moved(now.node, layout), "the table's " + now.machine->name};
}

/// Takes NUMA nodes that the machine does not have out of a layout; what they were is returned.
std::string drop_numa_nodes_of_others(Layout& layout, const node::Node& node) {
  std::set<int> others;
  for (auto& position : layout.positions) {
    const auto own = position.numa_node;
    if (!own || node.numa.empty()) continue;
    const bool known =
        std::ranges::any_of(node.numa, [&](const node::NumaNode& numa) { return numa.id == *own; });
    if (known) continue;
    others.insert(*own);
    position.numa_node.reset();
  }
  if (others.empty()) return "";
  return (others.size() == 1 ? "NUMA node " : "NUMA nodes ") +
         join(others, ", ", [](int id) { return std::to_string(id); });
}

/// A file with one <cpu> for a whole machine says nothing of NUMA nodes.
bool names_several_numa_nodes(const Layout& layout) {
  std::set<int> nodes;
  for (const auto& position : layout.positions) {
    if (position.numa_node) nodes.insert(*position.numa_node);
  }
  return nodes.size() > 1;
}

/// What one file makes of the node, or nothing and a warning.
std::optional<Arrangement> arrange_by_file(const Situation& now, const NcclTopology& file,
                                           std::vector<std::string>& warnings) {
  Layout layout = layout_of(file);
  const LayoutFit fit = fit_of(layout, now.node);
  if (!fit.refusal.empty()) {
    warnings.push_back(file.origin + " is not used: it " + fit.refusal);
    return std::nullopt;
  }
  Arrangement result;
  result.source = TopologySource::topology_file;
  result.origin = file.origin;
  result.for_nccl = completed(hardware_of(file), now.node);
  result.for_nccl->version = nccl_version_for(now.node);
  for (const auto& list : {file.warnings, layout.warnings}) {
    for (const auto& warning : list) result.warnings.push_back(file.origin + ": " + warning);
  }
  const auto others = drop_numa_nodes_of_others(layout, now.node);
  if (!others.empty()) {
    result.warnings.push_back(file.origin + " names " + others +
                              ", which this machine does not have; there sysfs counts");
  }
  const bool tells = !now.real && names_several_numa_nodes(layout);
  result.node = moved(now.node, layout, tells ? NumaOf::layout : NumaOf::sysfs);
  if (now.reference) {
    const auto gpus = contradicted_gpus(now.reference->node, result.node, layout);
    if (!gpus.empty()) {
      result.warnings.push_back(file.origin + " contradicts " + now.reference->name + " on " +
                                gpus + "; the file counts");
    }
  }
  if (!result.warnings.empty()) result.confidence = Confidence::medium;
  for (const auto& remark : fit.remarks) result.warnings.push_back(file.origin + " " + remark);
  result.confidence = worse(result.confidence, fit.confidence);
  if (!unclassified_functions(now.node).empty()) {
    // A machine of which only a file is known, and that in part.
    const auto at_most = now.node.gpus.empty() ? Confidence::low : Confidence::medium;
    result.confidence = worse(result.confidence, at_most);
  }
  return result;
}

std::optional<Arrangement> arrange_by_nccl_file(const Situation& now,
                                                std::vector<std::string>& warnings) {
  if (!now.node.nccl_file) return std::nullopt;
  const auto file = parse_nccl_topology(now.node.nccl_file->text, now.node.nccl_file->path);
  if (file) return arrange_by_file(now, *file, warnings);
  warnings.push_back(file.error().message + "; the file is not used");
  return std::nullopt;
}

Arrangement arrange_by_tree(const KnownMachine* machine, bool hypervisor) {
  Arrangement result;
  const bool vouched = machine != nullptr && machine->tree_is_real;
  result.confidence = hypervisor && !vouched ? Confidence::medium : Confidence::high;
  if (vouched) result.origin = machine->name;
  return result;
}

/// What the table's entry makes of the node, or nothing and a warning: a type may come with NICs at
/// other addresses one day.
std::optional<Arrangement> arrange_by_table(const node::Node& node, const KnownMachine& machine,
                                            std::vector<std::string>& warnings) {
  const Layout layout = layout_of(machine);
  const LayoutFit fit = fit_of(layout, node);
  const std::string entry = "the table's " + machine.name;
  if (!fit.refusal.empty()) {
    warnings.push_back(entry + " is not used: it " + fit.refusal);
    return std::nullopt;
  }
  Arrangement result;
  result.source = TopologySource::machine_table;
  result.origin = machine.name;
  result.confidence = fit.confidence;
  for (const auto& remark : fit.remarks) result.warnings.push_back(entry + " " + remark);
  result.node = moved(node, layout);
  result.for_nccl = nccl_topology_of(result.node);
  return result;
}

Arrangement arrange_by_numa(const node::Node& node) {
  Arrangement result;
  result.source = TopologySource::numa;
  const NumaSource numa = numa_source_of(node);
  result.confidence = numa.confidence;
  if (!numa.warning.empty()) result.warnings.push_back(numa.warning);
  return result;
}

/// The best source; its node is filled in where it moves functions.
Arrangement best_source(const Situation& now, const std::optional<NcclTopology>& from_operator,
                        std::vector<std::string>& warnings) {
  if (from_operator) {
    if (auto result = arrange_by_file(now, *from_operator, warnings)) {
      if (now.real) result->for_nccl.reset();
      return *std::move(result);
    }
  }
  if (now.real) return arrange_by_tree(now.machine, now.node.hypervisor);
  if (auto result = arrange_by_nccl_file(now, warnings)) return *std::move(result);
  if (now.machine == nullptr) return arrange_by_numa(now.node);
  if (auto result = arrange_by_table(now.node, *now.machine, warnings)) return *std::move(result);
  Arrangement result = arrange_by_numa(now.node);
  result.confidence = Confidence::low;
  return result;
}

/// NUMA nodes of sysfs that are others in `after`. Moving adds bridges and removes nothing.
std::map<node::PciAddress, int> changed_numa_nodes(const node::Node& before,
                                                   const node::Node& after) {
  std::map<node::PciAddress, int> changed;
  for (const auto& device : before.pci) {
    if (!device.numa_node) continue;
    const node::PciDevice* now = after.find_pci(device.address);
    if (now != nullptr && now->numa_node != device.numa_node) {
      changed.emplace(device.address, *device.numa_node);
    }
  }
  return changed;
}

}  // namespace

bool hides_switches(const node::Node& node) {
  if (!node.hypervisor) return false;
  bool pairs = false;
  for (const auto& gpu : node.gpus) {
    const node::PciDevice* one = node.find_pci(gpu.pci);
    for (const auto& nic : node.nics) {
      const node::PciDevice* other = nic.pci ? node.find_pci(*nic.pci) : nullptr;
      if (one == nullptr || other == nullptr) continue;
      if (common_bridge(*one, *other)) return false;
      pairs = true;
    }
  }
  return pairs;
}

Arrangement arrange(node::Node node, const std::optional<NcclTopology>& from_operator) {
  std::vector<std::string> warnings;
  const bool hides = hides_switches(node);
  Situation now{node, find_known_machine(node, known_machines())};
  now.real = !hides || (now.machine != nullptr && now.machine->tree_is_real);
  if (from_operator || (!now.real && node.nccl_file)) now.reference = reference_for(now);
  Arrangement result = best_source(now, from_operator, warnings);
  if (now.machine != nullptr) {
    result.machine = now.machine->name;
    result.machine_nics = now.machine->nics;
  }
  const bool moves = result.source == TopologySource::topology_file ||
                     result.source == TopologySource::machine_table;
  if (moves) {
    result.numa_of_sysfs = changed_numa_nodes(node, result.node);
  } else {
    result.node = std::move(node);
  }
  result.warnings.insert(result.warnings.begin(), warnings.begin(), warnings.end());
  return result;
}

node::Node with_numa_of_sysfs(const Arrangement& arrangement) {
  node::Node node = arrangement.node;
  const auto restore = [&](const node::PciAddress& address, std::optional<int>& numa) {
    const auto known = arrangement.numa_of_sysfs.find(address);
    if (known != arrangement.numa_of_sysfs.end()) numa = known->second;
  };
  for (auto& device : node.pci) restore(device.address, device.numa_node);
  for (auto& gpu : node.gpus) restore(gpu.pci, gpu.numa_node);
  for (auto& nic : node.nics) {
    if (nic.pci) restore(*nic.pci, nic.numa_node);
  }
  return node;
}

Topology make_topology(const Arrangement& arrangement) {
  Topology topology = make_topology(arrangement.node);
  topology.source = arrangement.source;
  topology.origin = arrangement.origin;
  topology.machine = arrangement.machine;
  topology.machine_nics = arrangement.machine_nics;
  topology.confidence = worse(topology.confidence, arrangement.confidence);
  topology.warnings.insert(topology.warnings.begin(), arrangement.warnings.begin(),
                           arrangement.warnings.end());
  return topology;
}

}  // namespace railhead::topology
