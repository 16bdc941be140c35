// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "affinity/affinity.h"
#include "affinity/fabric.h"
#include "affinity/facts.h"
#include "base/text.h"

namespace railhead {
namespace {

constexpr std::array kRoleNames = {
    std::pair{Role::compute, std::string_view("compute")},
    std::pair{Role::storage, std::string_view("storage")},
    std::pair{Role::management, std::string_view("management")},
    std::pair{Role::front_end, std::string_view("front-end")},
    std::pair{Role::nvlink_management, std::string_view("nvlink-management")},
    std::pair{Role::virtual_function, std::string_view("virtual-function")},
    std::pair{Role::unknown, std::string_view("unknown")},
};

bool matches(const RoleOverride& rule, const Nic& nic, const PciDevice* function) {
  if (!rule.name_glob.empty() && !glob_match(rule.name_glob, nic.name)) return false;
  if (rule.pci && rule.pci != nic.pci) return false;
  if ((rule.vendor || rule.device) && function == nullptr) return false;
  if (rule.vendor && rule.vendor != function->vendor) return false;
  if (rule.device && rule.device != function->device) return false;
  if (rule.link_layer && rule.link_layer != link_layer_of(nic, function)) return false;
  return rule.netdev_glob.empty() ||
         std::any_of(nic.netdevs.begin(), nic.netdevs.end(), [&](const std::string& netdev) {
           return glob_match(rule.netdev_glob, netdev);
         });
}

std::optional<RoleDecision> overridden(const Nic& nic, const PciDevice* function,
                                       const std::vector<RoleOverride>& overrides) {
  const auto rule = std::find_if(overrides.begin(), overrides.end(), [&](const RoleOverride& one) {
    return matches(one, nic, function);
  });
  if (rule == overrides.end()) return std::nullopt;
  return RoleDecision{rule->role, "set by configuration"};
}

/// Decides what a device says of itself first, then what its card is among the others.
class RoleJudge {
 public:
  RoleJudge(const Node& node, const Topology& topology)
      : facts_(node),
        topology_(topology),
        decisions_(node.nics.size()) {}

  std::vector<RoleDecision> decide(const std::vector<RoleOverride>& overrides) {
    for (std::size_t i = 0; i < decisions_.size(); ++i) {
      decisions_[i] = overridden(facts_.nic(i), facts_.function(i), overrides);
      if (!decisions_[i]) decisions_[i] = role_by_itself(facts_, i);
    }
    compare_with_fabric();
    std::vector<RoleDecision> all;
    for (auto& decision : decisions_) all.push_back(std::move(decision).value_or(RoleDecision{}));
    return all;
  }

 private:
  /// Cards that may be compute: undecided, or set to compute by configuration (those vote, too).
  [[nodiscard]] std::vector<CardTraits> voters() const {
    std::vector<std::size_t> nics;
    for (std::size_t i = 0; i < decisions_.size(); ++i) {
      const bool excluded = decisions_[i] && decisions_[i]->role != Role::compute;
      if (facts_.nic(i).pci && !excluded) nics.push_back(i);
    }
    std::vector<CardTraits> cards;
    // Devices of one slot that differ in link layer or speed are judged one by one.
    while (!nics.empty()) {
      for (auto& card : make_cards(facts_.node(), nics, facts_.capabilities())) {
        std::erase_if(nics, [&](std::size_t nic) {
          return std::find(card.nics.begin(), card.nics.end(), nic) != card.nics.end();
        });
        cards.push_back(traits_of(std::move(card)));
      }
    }
    return cards;
  }

  [[nodiscard]] CardTraits traits_of(Card card) const {
    CardTraits traits;
    const PciDevice* pci = facts_.function(card.nics.front());
    traits.functions = facts_.functions_in_slot(card.nics.front());
    traits.bluefield = pci != nullptr && is_bluefield(*pci);
    for (const auto nic : card.nics) {
      for (const auto& name : facts_.nic(nic).netdevs) {
        const Netdev* netdev = facts_.node().find_netdev(name);
        traits.enslaved = traits.enslaved || (netdev != nullptr && netdev->master);
      }
    }
    traits.card = std::move(card);
    return traits;
  }

  void compare_with_fabric() {
    const auto cards = voters();
    const Fabric fabric = elect_fabric(cards);
    std::vector<const Card*> members;
    std::vector<std::pair<const Card*, Outlier>> outliers;
    for (const auto& card : cards) {
      if (auto outlier = find_outlier(card, fabric)) {
        outliers.emplace_back(&card.card, *std::move(outlier));
      } else {
        members.push_back(&card.card);
      }
    }
    for (const auto* card : members) {
      settle(*card, {Role::compute,
                     to_text(card->capability) +
                         (cards.size() == 1 ? ", the only card"
                                            : ", as " + std::to_string(members.size()) + " of " +
                                                  std::to_string(cards.size()) + " cards")});
    }
    for (const auto& [card, outlier] : outliers) judge(*card, outlier, members);
  }

  /// An outlier is excluded, unless the evidence is weak and some GPU has nothing else near it.
  void judge(const Card& card, const Outlier& outlier, const std::vector<const Card*>& members) {
    const auto gpu = outlier.certain ? std::nullopt : sole_neighbour(card, members);
    if (!gpu) {
      settle(card, {outlier.role, outlier.reason});
      return;
    }
    settle(card, {Role::compute, outlier.reason + ", but no other NIC is near GPU " +
                                     facts_.node().gpus[*gpu].pci.str()});
  }

  void settle(const Card& card, const RoleDecision& decision) {
    for (const auto nic : card.nics) {
      if (!decisions_[nic]) decisions_[nic] = decision;
    }
  }

  [[nodiscard]] Relation nearest(std::size_t gpu, const Card& card) const {
    Relation best = Relation::sys;
    for (const auto nic : card.nics) best = std::min(best, topology_.gpu_nic[gpu][nic].relation);
    return best;
  }

  /// The GPU with the lowest address that shares a host bridge with this card, while every card of
  /// the fabric is further from it.
  [[nodiscard]] std::optional<std::size_t> sole_neighbour(
      const Card& card, const std::vector<const Card*>& members) const {
    const auto& gpus = facts_.node().gpus;
    std::optional<std::size_t> found;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const Relation own = nearest(g, card);
      const bool sole = std::all_of(members.begin(), members.end(),
                                    [&](const Card* member) { return own < nearest(g, *member); });
      if (own > Relation::phb || !sole) continue;
      if (!found || gpus[g].pci < gpus[*found].pci) found = g;
    }
    return found;
  }

  NicFacts facts_;
  const Topology& topology_;
  std::vector<std::optional<RoleDecision>> decisions_;
};

}  // namespace

std::string_view to_string(Role role) {
  const auto* at = std::find_if(kRoleNames.begin(), kRoleNames.end(),
                                [&](const auto& entry) { return entry.first == role; });
  return at != kRoleNames.end() ? at->second : "unknown";
}

std::optional<Role> parse_role(std::string_view text) {
  const auto* at = std::find_if(kRoleNames.begin(), kRoleNames.end(),
                                [&](const auto& entry) { return entry.second == text; });
  if (at == kRoleNames.end()) return std::nullopt;
  return at->first;
}

std::vector<RoleDecision> decide_roles(const Node& node, const Topology& topology,
                                       const std::vector<RoleOverride>& overrides) {
  return RoleJudge(node, topology).decide(overrides);
}

}  // namespace railhead
