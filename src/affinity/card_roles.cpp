// SPDX-License-Identifier: Apache-2.0
#include "affinity/card_roles.h"

#include <algorithm>
#include <set>
#include <utility>

#include "affinity/fabric.h"
#include "base/contains.h"

namespace railhead::affinity {
namespace {

using Decisions = std::vector<std::optional<RoleDecision>>;

/// Makes the cards of all NICs that may be compute.
class CardCollector {
 public:
  CardCollector(const NicFacts& facts, const Decisions& decisions)
      : facts_(facts),
        decisions_(decisions) {}

  [[nodiscard]] std::vector<CardTraits> collect() const {
    std::vector<std::size_t> plain;
    std::vector<std::size_t> routed;
    for (std::size_t i = 0; i < decisions_.size(); ++i) {
      const bool excluded = decisions_[i] && decisions_[i]->role != Role::compute;
      if (!facts_.nic(i).pci || excluded) continue;
      (route_of(i).empty() ? plain : routed).push_back(i);
    }
    std::vector<CardTraits> cards;
    add_cards(std::move(plain), cards);
    add_cards(std::move(routed), cards);
    return cards;
  }

 private:
  /// The configuration's word leaves no question that the route could answer.
  [[nodiscard]] std::string route_of(std::size_t nic) const {
    return decisions_[nic] ? "" : main_route_of(facts_, nic);
  }

  /// Devices of one slot that differ in link layer or speed are judged one by one.
  void add_cards(std::vector<std::size_t> nics, std::vector<CardTraits>& cards) const {
    while (!nics.empty()) {
      for (auto& card : make_cards(facts_.node(), nics, facts_.capabilities())) {
        std::erase_if(nics, [&](std::size_t nic) { return contains(card.nics, nic); });
        cards.push_back(traits_of(std::move(card)));
      }
    }
  }

  [[nodiscard]] CardTraits traits_of(Card card) const {
    CardTraits traits;
    const node::PciDevice* pci = facts_.function(card.nics.front());
    traits.functions = facts_.functions_in_slot(card.nics.front());
    traits.bluefield = pci != nullptr && is_bluefield(*pci);
    traits.main_route = route_of(card.nics.front());
    for (const auto nic : card.nics) {
      for (const auto& name : facts_.nic(nic).netdevs) {
        const node::Netdev* netdev = facts_.node().find_netdev(name);
        traits.enslaved = traits.enslaved || (netdev != nullptr && netdev->master);
      }
    }
    traits.card = std::move(card);
    return traits;
  }

  const NicFacts& facts_;
  const Decisions& decisions_;
};

/// A card that differs from the fabric. With weak evidence it may still be compute.
struct OddCard {
  const Card* card = nullptr;
  Outlier outlier{};
  std::vector<std::size_t> gpus{};  ///< that have no card of the fabric as near; weak evidence only
};

class CardJudge {
 public:
  CardJudge(const NicFacts& facts, const topology::Topology& topology, Decisions& decisions)
      : facts_(facts),
        topology_(topology),
        decisions_(decisions),
        cards_(CardCollector(facts, decisions).collect()),
        route_tells_(route_tells(facts.node(), cards_)),
        fabric_(elect_fabric(electors(facts.node(), cards_))) {}

  void judge() {
    std::vector<OddCard> odd;
    std::vector<const CardTraits*> routed;
    for (const auto& card : cards_) {
      auto outlier = find_outlier(card, fabric_);
      if (route_tells_ && !card.main_route.empty()) {
        routed.push_back(&card);
      } else if (outlier) {
        odd.push_back({&card.card, *std::move(outlier)});
      } else {
        members_.push_back(&card);
      }
    }
    judge_routed(routed);
    for (const auto* card : members_) settle(card->card, {Role::compute, why_of_fabric(*card)});
    judge_odd(odd);
  }

 private:
  /// Cards with the main default route are management. But one that is like the fabric's cards in
  /// all else is compute if some GPU has no other card as near, or if it is the fabric's only card.
  void judge_routed(const std::vector<const CardTraits*>& routed) {
    std::vector<const CardTraits*> compute;
    for (const auto* card : routed) {
      RoleDecision management{Role::management,
                              "its netdev " + card->main_route + " carries the default route"};
      const bool of_fabric = fabric_.cards != 0 && !find_outlier(*card, fabric_);
      if (of_fabric &&
          (members_.empty() || !gpus_alone_with(card->card, topology::Relation::sys).empty())) {
        compute.push_back(card);
        continue;
      }
      if (of_fabric) {
        management.doubt = to_text(card->card.capability) + ", as " +
                           (members_.size() == 1 ? "the compute NIC" : "the compute NICs");
      }
      ++left_out_;
      settle(card->card, management);
    }
    members_.insert(members_.end(), compute.begin(), compute.end());
  }

  [[nodiscard]] std::string why_of_fabric(const CardTraits& card) const {
    const auto compared = cards_.size() - left_out_;
    std::string why = to_text(card.card.capability);
    why += compared == 1 ? ", the only card"
                         : ", as " + std::to_string(members_.size()) + " of " +
                               std::to_string(compared) + " cards";
    if (card.main_route.empty()) return why;
    return why + ", though its netdev " + card.main_route + " carries the default route";
  }

  /// An odd card is excluded, unless the evidence is weak and some GPU has nothing else near it.
  void judge_odd(std::vector<OddCard>& odd) {
    std::set<std::size_t> alone;
    for (auto& one : odd) {
      if (!one.outlier.certain) one.gpus = gpus_alone_with(*one.card, topology::Relation::phb);
      alone.insert(one.gpus.begin(), one.gpus.end());
    }
    for (const auto& one : odd) {
      if (one.gpus.empty() || stands_beside_a_lost_one(one, alone.size())) {
        settle(*one.card, {one.outlier.role, one.outlier.reason});
      } else {
        settle(*one.card, {Role::compute, one.outlier.reason + ", but no other NIC is near GPU " +
                                              first_of(one.gpus).str()});
      }
    }
  }

  [[nodiscard]] node::PciAddress first_of(const std::vector<std::size_t>& gpus) const {
    const auto& all = facts_.node().gpus;
    node::PciAddress first = all[gpus.front()].pci;
    for (const auto gpu : gpus) first = std::min(first, all[gpu].pci);
    return first;
  }

  /// Whether the GPUs of this card have lost their card of the fabric, which was beside it. It
  /// looks so where every other GPU that has a card of the fabric as near has exactly one, and
  /// these GPUs are at least twice as many as those that have only an odd card. Where others have
  /// several, one loss would leave some; on machines whose rails differ, fewer GPUs have one.
  [[nodiscard]] bool stands_beside_a_lost_one(const OddCard& odd, std::size_t alone) const {
    if (fabric_.tied) return false;
    const topology::Relation own = nearest(odd.gpus.front(), *odd.card);
    std::size_t served = 0;
    for (std::size_t g = 0; g < facts_.node().gpus.size(); ++g) {
      const auto near = std::ranges::count_if(
          members_, [&](const CardTraits* member) { return nearest(g, member->card) <= own; });
      if (near > 1) return false;
      if (near == 1) ++served;
    }
    return served != 0 && 2 * alone <= served;
  }

  void settle(const Card& card, const RoleDecision& decision) {
    for (const auto nic : card.nics) {
      if (!decisions_[nic]) decisions_[nic] = decision;
    }
  }

  [[nodiscard]] topology::Relation nearest(std::size_t gpu, const Card& card) const {
    topology::Relation best = topology::Relation::sys;
    for (const auto nic : card.nics) best = std::min(best, topology_.gpu_nic[gpu][nic].relation);
    return best;
  }

  /// GPUs that are at most this far from the card, while every card of the fabric is further.
  [[nodiscard]] std::vector<std::size_t> gpus_alone_with(const Card& card,
                                                         topology::Relation furthest) const {
    std::vector<std::size_t> gpus;
    for (std::size_t g = 0; g < facts_.node().gpus.size(); ++g) {
      const topology::Relation own = nearest(g, card);
      const bool alone = std::ranges::all_of(
          members_, [&](const CardTraits* member) { return own < nearest(g, member->card); });
      if (own <= furthest && alone) gpus.push_back(g);
    }
    return gpus;
  }

  const NicFacts& facts_;
  const topology::Topology& topology_;
  Decisions& decisions_;
  std::vector<CardTraits> cards_;
  bool route_tells_ = false;
  Fabric fabric_;
  std::vector<const CardTraits*> members_;  ///< cards of the fabric that are compute
  std::size_t left_out_ = 0;                ///< cards that the default route makes management
};

}  // namespace

void judge_cards(const NicFacts& facts, const topology::Topology& topology, Decisions& decisions) {
  CardJudge(facts, topology, decisions).judge();
}

}  // namespace railhead::affinity
