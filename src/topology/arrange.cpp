// SPDX-License-Identifier: Apache-2.0
#include "topology/arrange.h"

#include <algorithm>
#include <utility>

#include "topology/contradiction.h"
#include "topology/known_machine.h"
#include "topology/layout.h"
#include "topology/layout_fit.h"
#include "topology/nccl_hardware.h"
#include "topology/numa_source.h"

namespace railhead {
namespace {

/// What else is known of the machine that a file can be held against.
struct Reference {
  Node node;
  std::string name;  ///< "the PCI tree", "the table's Azure NDv2"
};

/// sysfs where it is true, else the table; absent where neither says anything.
std::optional<Reference> reference_for(const Node& node, const KnownMachine* machine, bool hides) {
  if (!hides || (machine != nullptr && machine->tree_is_real))
    return Reference{node, "the PCI tree"};
  if (machine == nullptr) return std::nullopt;
  return Reference{moved(node, layout_of(*machine)), "the table's " + machine->name};
}

Confidence worse(Confidence a, Confidence b) {
  return std::max(a, b);
}

/// What one file makes of the node, or nothing and a warning.
std::optional<Arrangement> arrange_by_file(const Node& node, const NcclTopology& file,
                                           const std::optional<Reference>& reference,
                                           std::vector<std::string>& warnings) {
  const Layout layout = layout_of(file);
  const LayoutFit fit = fit_of(layout, node);
  if (!fit.refusal.empty()) {
    warnings.push_back(file.origin + " is not used: it " + fit.refusal);
    return std::nullopt;
  }
  Arrangement result;
  result.source = TopologySource::topology_file;
  result.origin = file.origin;
  result.node = moved(node, layout);
  result.for_nccl = hardware_of(file);
  result.for_nccl->version = nccl_version_for(node);
  for (const auto* list : {&file.warnings, &layout.warnings}) {
    for (const auto& warning : *list) result.warnings.push_back(file.origin + ": " + warning);
  }
  if (!result.warnings.empty()) result.confidence = Confidence::medium;
  for (const auto& remark : fit.remarks) result.warnings.push_back(file.origin + " " + remark);
  result.confidence = worse(result.confidence, fit.confidence);
  if (reference) {
    const auto gpus = contradicted_gpus(reference->node, result.node, layout);
    if (!gpus.empty()) {
      result.warnings.push_back(file.origin + " contradicts " + reference->name + " on " + gpus +
                                "; the file counts");
    }
  }
  return result;
}

std::optional<Arrangement> arrange_by_nccl_file(const Node& node,
                                                const std::optional<Reference>& reference,
                                                std::vector<std::string>& warnings) {
  if (!node.nccl_file) return std::nullopt;
  const auto file = parse_nccl_topology(node.nccl_file->text, node.nccl_file->path);
  if (file) return arrange_by_file(node, *file, reference, warnings);
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

Arrangement arrange_by_table(const Node& node, const KnownMachine& machine) {
  Arrangement result;
  result.source = TopologySource::machine_table;
  result.origin = machine.name;
  result.node = moved(node, layout_of(machine));
  result.for_nccl = nccl_topology_of(result.node);
  return result;
}

Arrangement arrange_by_numa(const Node& node) {
  Arrangement result;
  result.source = TopologySource::numa;
  const NumaSource numa = numa_source_of(node);
  result.confidence = numa.confidence;
  if (!numa.warning.empty()) result.warnings.push_back(numa.warning);
  return result;
}

/// The best source; its node is filled in where it moves functions.
Arrangement best_source(const Node& node, const std::optional<NcclTopology>& from_operator,
                        std::vector<std::string>& warnings) {
  const bool hides = hides_switches(node);
  const KnownMachine* machine = find_known_machine(node, known_machines());
  const bool real = !hides || (machine != nullptr && machine->tree_is_real);
  const bool files = from_operator || (!real && node.nccl_file);
  const auto reference = files ? reference_for(node, machine, hides) : std::nullopt;
  if (from_operator) {
    if (auto result = arrange_by_file(node, *from_operator, reference, warnings)) {
      if (real) result->for_nccl.reset();
      return *std::move(result);
    }
  }
  if (real) return arrange_by_tree(machine, node.hypervisor);
  if (auto result = arrange_by_nccl_file(node, reference, warnings)) return *std::move(result);
  if (machine != nullptr) return arrange_by_table(node, *machine);
  return arrange_by_numa(node);
}

}  // namespace

bool hides_switches(const Node& node) {
  if (!node.hypervisor) return false;
  bool pairs = false;
  for (const auto& gpu : node.gpus) {
    const PciDevice* one = node.find_pci(gpu.pci);
    for (const auto& nic : node.nics) {
      const PciDevice* other = nic.pci ? node.find_pci(*nic.pci) : nullptr;
      if (one == nullptr || other == nullptr) continue;
      if (common_bridge(*one, *other)) return false;
      pairs = true;
    }
  }
  return pairs;
}

Arrangement arrange(Node node, const std::optional<NcclTopology>& from_operator) {
  std::vector<std::string> warnings;
  Arrangement result = best_source(node, from_operator, warnings);
  const bool moves = result.source == TopologySource::topology_file ||
                     result.source == TopologySource::machine_table;
  if (!moves) result.node = std::move(node);
  result.warnings.insert(result.warnings.begin(), warnings.begin(), warnings.end());
  return result;
}

Topology make_topology(const Arrangement& arrangement) {
  Topology topology = make_topology(arrangement.node);
  topology.source = arrangement.source;
  topology.origin = arrangement.origin;
  topology.confidence = worse(topology.confidence, arrangement.confidence);
  topology.warnings.insert(topology.warnings.begin(), arrangement.warnings.begin(),
                           arrangement.warnings.end());
  return topology;
}

}  // namespace railhead
