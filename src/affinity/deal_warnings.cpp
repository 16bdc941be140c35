// SPDX-License-Identifier: Apache-2.0
#include "affinity/deal_warnings.h"

#include <algorithm>
#include <map>
#include <set>

#include "affinity/wording.h"
#include "base/contains.h"
#include "base/text.h"

namespace railhead::affinity {
namespace {

void doubt_roles(const node::Node& node, Deal& deal) {
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    const RoleDecision& role = deal.roles[i];
    if (role.doubt.empty()) continue;
    deal.warnings.push_back(node.nics[i].name + " is " + std::string(to_string(role.role)) + " (" +
                            role.reason + "), but " + role.doubt +
                            "; if it is one of them, say so in roles: of the configuration");
  }
}

/// Whether another GPU has the first card of this one.
bool shares(const Deal& deal, std::size_t gpu) {
  const auto nic = deal.gpus[gpu].nics.front();
  for (std::size_t g = 0; g < deal.gpus.size(); ++g) {
    const auto& other = deal.gpus[g].nics;
    if (g != gpu && contains(other, nic)) return true;
  }
  return false;
}

/// GPUs that share what is further away than other GPUs' own NICs: theirs may have fallen off the
/// bus.
void miss_nics(const node::Node& node, Deal& deal) {
  if (deal.cards.empty()) return;
  topology::Relation own = topology::Relation::sys;
  for (std::size_t g = 0; g < deal.gpus.size(); ++g) {
    if (!shares(deal, g)) own = std::min(own, deal.gpus[g].nearness.relation);
  }

  struct Sharers {
    std::vector<std::string> gpus;
    std::set<std::size_t> nics;
  };

  std::map<topology::Relation, Sharers> sharers;
  for (std::size_t g = 0; g < deal.gpus.size(); ++g) {
    const auto& gpu = deal.gpus[g];
    if (gpu.nearness.relation <= own || !shares(deal, g)) continue;
    auto& those = sharers[gpu.nearness.relation];
    those.gpus.push_back(gpu_text(node.gpus[g]));
    those.nics.insert(gpu.nics.begin(), gpu.nics.end());
  }
  for (const auto& [relation, those] : sharers) {
    const auto name = [&](std::size_t nic) { return node.nics[nic].name; };
    deal.warnings.push_back(join(those.gpus, ", ") +
                            (those.gpus.size() == 1 ? " shares " : " share ") +
                            join(those.nics, ", ", name) + " (" + std::string(to_string(relation)) +
                            "), where other GPUs have NICs of their own (" +
                            std::string(to_string(own)) + "): is a NIC missing?");
  }
}

void compare_with_type(const topology::Topology& topology, std::size_t found, Deal& deal) {
  if (found >= topology.machine_nics) return;
  deal.warnings.push_back(topology.machine + " has " +
                          counted(topology.machine_nics, "compute NIC") + ", of which " +
                          std::to_string(found) + (found == 1 ? " is here" : " are here"));
}

bool has_numa_node(const node::Node& node, const node::PciAddress& address) {
  const node::PciDevice* function = node.find_pci(address);
  return function != nullptr && topology::cpu_numa_node(node, *function).has_value();
}

/// Whether several cards are as far as can be from a GPU, because nothing says where it is or they
/// are.
bool left_to_chance(const node::Node& node, const Deal& deal, std::size_t gpu) {
  const auto& own = deal.gpus[gpu];
  if (own.nearness.relation != topology::Relation::sys) return false;
  const auto cards = std::ranges::count_if(
      deal.cards, [&](const auto& card) { return contains(own.nearest, card.front()); });
  if (cards < 2) return false;
  return !has_numa_node(node, node.gpus[gpu].pci) ||
         std::ranges::any_of(own.nearest, [&](std::size_t nic) {
           return node.nics[nic].pci && !has_numa_node(node, *node.nics[nic].pci);
         });
}

/// One node with CPUs is near to everything, whatever the functions say.
void name_chance(const node::Node& node, const topology::Topology& topology, Deal& deal) {
  const auto with_cpus = std::ranges::count_if(
      node.numa, [](const node::NumaNode& numa) { return !numa.cpus.empty(); });
  if (with_cpus < 2 || topology.source == topology::TopologySource::numa) return;
  std::vector<std::string> gpus;
  for (std::size_t g = 0; g < deal.gpus.size(); ++g) {
    if (left_to_chance(node, deal, g)) gpus.push_back(gpu_text(node.gpus[g]));
  }
  if (gpus.empty()) return;
  deal.confidence = topology::Confidence::low;
  deal.warnings.push_back(
      join(gpus, ", ") +
      ": which NICs are nearest is not known, for want of NUMA nodes in sysfs, so they are dealt "
      "evenly by PCI address, near or not; a topology file in topology.file tells more");
}

}  // namespace

void add_warnings(const node::Node& node, const topology::Topology& topology, std::size_t found,
                  Deal& deal) {
  doubt_roles(node, deal);
  miss_nics(node, deal);
  compare_with_type(topology, found, deal);
  name_chance(node, topology, deal);
}

}  // namespace railhead::affinity
