// SPDX-License-Identifier: Apache-2.0
#include "affinity/deal_warnings.h"

#include <algorithm>
#include <map>

#include "affinity/shortage.h"
#include "affinity/wording.h"
#include "base/contains.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "node/unread.h"

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

/// Whether a NIC of the compute NICs' model, or one that the operator gave another use, is as near
/// to a GPU as other GPUs' own: the place is taken, and nothing is missing there.
bool is_place_taken(const node::Node& node, const topology::Topology& topology, const Deal& deal,
                    std::size_t gpu, topology::Relation own) {
  const auto function = [&](std::size_t nic) {
    return node.nics[nic].pci ? node.find_pci(*node.nics[nic].pci) : nullptr;
  };
  for (std::size_t n = 0; n < deal.roles.size(); ++n) {
    const auto& role = deal.roles[n];
    if (role.role == Role::compute || role.role == Role::virtual_function) continue;
    if (topology.gpu_nic[gpu][n].relation > own) continue;
    const auto* model = function(n);
    const auto is_same_model = [&](const auto& card) {
      const auto* other = function(card.front());
      return model != nullptr && other != nullptr && model->vendor == other->vendor &&
             model->device == other->device;
    };
    if (role.by_operator || std::ranges::any_of(deal.cards, is_same_model)) return true;
  }
  return false;
}

void miss_nics(const node::Node& node, const topology::Topology& topology, Deal& deal) {
  if (deal.cards.empty() || node::unread_nic(node) != nullptr) return;
  topology::Relation own = topology::Relation::sys;
  for (std::size_t g = 0; g < deal.gpus.size(); ++g) {
    if (!shares(deal, g)) own = std::min(own, deal.gpus[g].nearness.relation);
  }
  std::map<topology::Relation, MissingNic> by_relation;
  std::size_t without = 0;
  std::size_t with_own = 0;
  for (std::size_t g = 0; g < deal.gpus.size(); ++g) {
    const auto& gpu = deal.gpus[g];
    if (gpu.nearness.relation <= own) ++with_own;
    if (gpu.nearness.relation <= own || !shares(deal, g)) continue;
    if (is_place_taken(node, topology, deal, g, own)) continue;
    ++without;
    auto& missing = by_relation[gpu.nearness.relation];
    missing.relation = gpu.nearness.relation;
    missing.own = own;
    missing.gpus.push_back(g);
    missing.nics.insert(missing.nics.end(), gpu.nics.begin(), gpu.nics.end());
  }
  // Where most GPUs share, it is the machine's way.
  if (without >= with_own) return;
  for (auto& [relation, missing] : by_relation) {
    sort_unique(missing.nics);
    deal.warnings.push_back(missing_nic_text(node, missing));
    deal.missing.push_back(std::move(missing));
  }
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

std::string missing_nic_text(const node::Node& node, const MissingNic& missing) {
  const auto gpu = [&](std::size_t index) { return gpu_text(node.gpus[index]); };
  const auto nic = [&](std::size_t index) { return node.nics[index].name; };
  return join(missing.gpus, ", ", gpu) + (missing.gpus.size() == 1 ? " shares " : " share ") +
         join(missing.nics, ", ", nic) + " (" + std::string(to_string(missing.relation)) +
         "), where other GPUs have NICs of their own (" + std::string(to_string(missing.own)) +
         "): is a NIC missing?";
}

void add_warnings(const node::Node& node, const topology::Topology& topology, Deal& deal) {
  doubt_roles(node, deal);
  miss_nics(node, topology, deal);
  if (auto text = shortage_text(node, topology, deal); !text.empty()) {
    deal.warnings.push_back(std::move(text));
  }
  name_chance(node, topology, deal);
}

}  // namespace railhead::affinity
