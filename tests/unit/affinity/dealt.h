// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "affinity/affinity.h"

namespace railhead::test {

/// PCI address and, where several devices share a function, which of them; the parent netdev of a
/// soft device: an identity that names and order leave alone.
inline std::string identity(const node::Nic& nic) {
  return nic.pci ? nic.pci->str() + nic.node_guid.value_or("") : nic.parent.value_or("?");
}

using ByAddress = std::map<std::string, std::set<std::string>>;

inline affinity::Deal deal_of(const node::Node& node) {
  return affinity::deal(node, topology::make_topology(node), {});
}

/// A machine with its deal and what each GPU would be given alone.
struct Dealt {
  topology::Topology topology;
  affinity::Deal deal;
  affinity::Selection selection;
  std::vector<std::size_t> card_of;  ///< by NIC; cards.size() for NICs in no card

  explicit Dealt(const node::Node& node, const std::vector<affinity::RoleOverride>& roles = {})
      : topology(topology::make_topology(node)),
        deal(affinity::deal(node, topology, {roles, {}})),
        card_of(node.nics.size(), deal.cards.size()) {
    std::vector<std::size_t> all(node.gpus.size());
    std::iota(all.begin(), all.end(), 0U);
    selection = affinity::select(node, topology, deal, affinity::usability_of(node), all);
    for (std::size_t c = 0; c < deal.cards.size(); ++c) {
      for (const auto nic : deal.cards[c]) card_of[nic] = c;
    }
  }

  [[nodiscard]] std::set<std::size_t> cards(const std::vector<std::size_t>& nics) const {
    std::set<std::size_t> all;
    for (const auto nic : nics) all.insert(card_of[nic]);
    return all;
  }
};

inline ByAddress dealt_by_address(const node::Node& node) {
  const Dealt dealt(node);
  ByAddress result;
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    auto& nics = result[node.gpus[g].pci.str()];
    for (const auto nic : dealt.deal.gpus[g].nics) nics.insert(identity(node.nics[nic]));
  }
  return result;
}

inline ByAddress selected_by_address(const node::Node& node) {
  const Dealt dealt(node);
  ByAddress result;
  for (const auto& choice : dealt.selection.gpus) {
    auto& nics = result[node.gpus[choice.gpu].pci.str()];
    for (const auto& nic : choice.nics) nics.insert(identity(node.nics[nic.nic]));
  }
  return result;
}

}  // namespace railhead::test
