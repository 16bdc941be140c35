// SPDX-License-Identifier: Apache-2.0
#include "affinity/card.h"

#include <algorithm>
#include <tuple>

namespace railhead::affinity {
namespace {

/// Whether the image guid is an identity: some drivers leave it zero.
bool tells_identity(const std::optional<std::string>& guid) {
  return guid && guid->find_first_not_of("0:x") != std::string::npos;
}

/// Virtual functions and sub-functions are handed out one by one.
bool stands_alone(const node::Node& node, const node::Nic& nic) {
  const node::PciDevice* function = nic.pci ? node.find_pci(*nic.pci) : nullptr;
  return nic.sub_function || (function != nullptr && function->is_vf());
}

bool one_card(const node::Node& node, const node::Nic& a, const node::Nic& b) {
  if (!are_in_one_slot(a, b)) return false;
  if (stands_alone(node, a) || stands_alone(node, b)) return false;
  const bool both = tells_identity(a.sys_image_guid) && tells_identity(b.sys_image_guid);
  return !both || a.sys_image_guid == b.sys_image_guid;
}

bool better(const Capability& a, const Capability& b) {
  if (a.gbps != b.gbps) return a.gbps > b.gbps;
  return a.link_layer == node::LinkLayer::infiniband && b.link_layer != node::LinkLayer::infiniband;
}

bool one_class(const Capability& a, const Capability& b) {
  return a.link_layer == b.link_layer && a.gbps == b.gbps;
}

void keep_fastest(Card& card, const std::vector<Capability>& capabilities) {
  for (const auto nic : card.nics) {
    if (better(capabilities[nic], card.capability)) card.capability = capabilities[nic];
  }
  std::erase_if(card.nics,
                [&](std::size_t nic) { return !one_class(capabilities[nic], card.capability); });
}

}  // namespace

bool are_in_one_slot(const node::Nic& a, const node::Nic& b) {
  return a.pci && b.pci &&
         std::tie(a.pci->domain, a.pci->bus, a.pci->device) ==
             std::tie(b.pci->domain, b.pci->bus, b.pci->device);
}

bool comes_before(const node::Nic& a, const node::Nic& b) {
  if (a.pci.has_value() != b.pci.has_value()) return a.pci.has_value();
  return std::tie(a.pci, a.sub_function, a.name) < std::tie(b.pci, b.sub_function, b.name);
}

std::vector<Card> make_cards(const node::Node& node, std::vector<std::size_t> nics,
                             const std::vector<Capability>& capabilities) {
  std::ranges::sort(
      nics, [&](std::size_t a, std::size_t b) { return comes_before(node.nics[a], node.nics[b]); });
  std::vector<Card> cards;
  for (const auto nic : nics) {
    // Sorted by address, functions of one slot are neighbours: at most eight cards to look at.
    auto at = cards.rbegin();
    for (; at != cards.rend(); ++at) {
      const node::Nic& other = node.nics[at->nics.front()];
      if (one_card(node, other, node.nics[nic])) break;
      if (!are_in_one_slot(other, node.nics[nic])) {
        at = cards.rend();
        break;
      }
    }
    if (at != cards.rend()) {
      at->nics.push_back(nic);
    } else {
      cards.push_back({{nic}, capabilities[nic]});
    }
  }
  for (auto& card : cards) keep_fastest(card, capabilities);
  return cards;
}

}  // namespace railhead::affinity
