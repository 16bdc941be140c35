// SPDX-License-Identifier: Apache-2.0
#include "affinity/fabric.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace railhead::affinity {
namespace {

using Class = std::pair<node::LinkLayer, unsigned>;

Class class_of(const CardTraits& card) {
  return {card.card.capability.link_layer, card.card.capability.gbps};
}

struct Election {
  Class winner;
  bool tied = false;  ///< another link layer or speed has as much bandwidth
};

/// The class with most bandwidth: eight compute cards outweigh one faster storage card, and one
/// fast card outweighs a handful of on-board ports. An unknown speed is not a low one: it counts
/// as the fastest that is known.
Election elect_class(const std::vector<CardTraits>& cards) {
  std::map<Class, unsigned> count;
  for (const auto& card : cards) ++count[class_of(card)];
  unsigned fastest = 1;
  for (const auto& entry : count) fastest = std::max(fastest, entry.first.second);
  const auto bandwidth = [&](const auto& entry) {
    return (entry.first.second == 0 ? fastest : entry.first.second) * entry.second;
  };
  const auto weight = [&](const auto& entry) {
    const bool infiniband = entry.first.first == node::LinkLayer::infiniband;
    return std::tuple(bandwidth(entry), infiniband, entry.second, entry.first.second);
  };
  const auto best = std::ranges::max_element(
      count, [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  if (best == count.end()) return {};
  const bool tied = std::ranges::any_of(count, [&](const auto& entry) {
    return entry.first != best->first && bandwidth(entry) == bandwidth(*best);
  });
  return {best->first, tied};
}

/// The number of functions that most cards have: twice as many cards as have any other number.
std::optional<unsigned> elect_functions(const std::vector<const CardTraits*>& cards) {
  std::map<unsigned, std::size_t> count;
  for (const auto* card : cards) ++count[card->functions];
  for (const auto& [functions, number] : count) {
    const bool outvotes_all =
        std::ranges::all_of(count, [functions = functions, number = number](const auto& other) {
          return other.first == functions || number >= 2 * other.second;
        });
    if (outvotes_all) return functions;
  }
  return std::nullopt;
}

std::string among(const Fabric& fabric) {
  return fabric.gbps == 0 ? "most cards"
                          : counted(fabric.cards, "card") + " of " +
                                to_text({fabric.link_layer, fabric.gbps, 0, fabric.unnamed_layer});
}

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

Fabric elect_fabric(const std::vector<CardTraits>& cards) {
  Fabric fabric;
  const Election election = elect_class(cards);
  std::tie(fabric.link_layer, fabric.gbps) = election.winner;
  fabric.tied = election.tied;
  std::vector<const CardTraits*> members;
  for (const auto& card : cards) {
    if (class_of(card) == Class{fabric.link_layer, fabric.gbps}) members.push_back(&card);
  }
  const auto how_many = [&](bool CardTraits::*trait) {
    return static_cast<std::size_t>(
        std::ranges::count_if(members, [&](const CardTraits* card) { return card->*trait; }));
  };
  fabric.cards = members.size();
  fabric.unnamed_layer = !members.empty() && members.front()->card.capability.unnamed_layer;
  fabric.functions = elect_functions(members);
  fabric.bluefield = how_many(&CardTraits::bluefield) * 2 > members.size();
  fabric.enslaved = how_many(&CardTraits::enslaved) * 3 > members.size();
  return fabric;
}

std::optional<Outlier> find_outlier(const CardTraits& card, const Fabric& fabric) {
  const Capability& own = card.card.capability;
  const Role other =
      own.link_layer == node::LinkLayer::infiniband ? Role::storage : Role::front_end;
  const bool layers_known =
      own.link_layer != node::LinkLayer::unknown && fabric.link_layer != node::LinkLayer::unknown;
  if (layers_known && own.link_layer != fabric.link_layer) {
    return Outlier{other, to_text(own) + " beside " + among(fabric), !fabric.tied};
  }
  if (own.gbps != 0 && fabric.gbps != 0 && own.gbps != fabric.gbps) {
    const bool much_slower = own.gbps * 2 < fabric.gbps;
    return Outlier{other, to_text(own) + " beside " + among(fabric), much_slower && !fabric.tied};
  }
  if (card.bluefield && !fabric.bluefield) {
    return Outlier{Role::front_end, "a BlueField DPU beside " + among(fabric), false};
  }
  if (card.enslaved && !fabric.enslaved) {
    return Outlier{Role::front_end,
                   "its netdev is in a bond or bridge, those of most cards are not", false};
  }
  if (fabric.functions && card.functions != *fabric.functions) {
    return Outlier{other,
                   "a card of " + std::to_string(card.functions) + " functions, most have " +
                       std::to_string(*fabric.functions),
                   false};
  }
  return std::nullopt;
}

bool route_tells(const node::Node& node, const std::vector<CardTraits>& cards) {
  const auto holders = std::ranges::count_if(
      node.netdevs, [](const node::Netdev& netdev) { return netdev.main_route; });
  const auto without =
      std::ranges::count_if(cards, [](const CardTraits& card) { return !has_route(card); });
  if (without != 0) return holders <= without;
  return node.hypervisor && cards.size() == 1 && !is_infiniband(cards.front());
}

std::vector<CardTraits> electors(const node::Node& node, const std::vector<CardTraits>& cards) {
  if (!route_tells(node, cards)) return cards;
  const auto votes = [&](const CardTraits& card) {
    if (!has_route(card) || is_infiniband(card)) return true;
    return !node.hypervisor && std::ranges::all_of(cards, [&](const auto& other) {
      return has_route(other) || outdoes(card, other);
    });
  };
  std::vector<CardTraits> chosen;
  std::ranges::copy_if(cards, std::back_inserter(chosen), votes);
  return chosen;
}

}  // namespace railhead::affinity
