// SPDX-License-Identifier: Apache-2.0
#include "affinity/main_route.h"

#include <algorithm>
#include <iterator>

namespace railhead::affinity {
namespace {

bool is_infiniband(const CardTraits& card) {
  return card.card.capability.link_layer == node::LinkLayer::infiniband;
}

bool has_route(const CardTraits& card) {
  return !card.main_route.empty();
}

/// Whether a card with the route outdoes another, as the one that carries everything outdoes an
/// on-board port.
bool outdoes(const CardTraits& card, const CardTraits& other) {
  const auto& own = card.card.capability;
  const auto& theirs = other.card.capability;
  return theirs.link_layer == own.link_layer && theirs.gbps != 0 && theirs.gbps < own.gbps;
}

}  // namespace

bool route_tells(const node::Node& node, const std::vector<CardTraits>& cards) {
  const auto holders = std::count_if(node.netdevs.begin(), node.netdevs.end(),
                                     [](const node::Netdev& netdev) { return netdev.main_route; });
  const auto without = std::count_if(cards.begin(), cards.end(),
                                     [](const CardTraits& card) { return !has_route(card); });
  if (without != 0) return holders <= without;
  return node.hypervisor && cards.size() == 1 && !is_infiniband(cards.front());
}

std::vector<CardTraits> electors(const node::Node& node, const std::vector<CardTraits>& cards) {
  if (!route_tells(node, cards)) return cards;
  const auto votes = [&](const CardTraits& card) {
    if (!has_route(card) || is_infiniband(card)) return true;
    return !node.hypervisor && std::all_of(cards.begin(), cards.end(), [&](const auto& other) {
      return has_route(other) || outdoes(card, other);
    });
  };
  std::vector<CardTraits> chosen;
  std::copy_if(cards.begin(), cards.end(), std::back_inserter(chosen), votes);
  return chosen;
}

}  // namespace railhead::affinity
