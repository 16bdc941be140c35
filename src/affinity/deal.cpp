// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>

#include "affinity/affinity.h"
#include "affinity/card.h"
#include "affinity/deal_warnings.h"
#include "affinity/expectations.h"
#include "affinity/wording.h"
#include "base/text.h"

namespace railhead::affinity {
namespace {

/// GPUs with the same nearest cards. Cards are indices into Deal::cards, sorted as those are.
struct Group {
  std::vector<std::size_t> gpus;  ///< by PCI address
  std::vector<std::size_t> cards;
  topology::Nearness nearest;  ///< of its nearest GPU
  std::size_t share = 1;       ///< most cards that a GPU of it gets
};

/// The most that every GPU of these groups can have, where all of their cards are among `cards`;
/// 0 if they are more than the cards.
std::size_t even_share(const std::vector<std::size_t>& cards, const std::vector<Group>& groups) {
  std::size_t gpus = 0;
  for (const auto& group : groups) {
    if (std::includes(cards.begin(), cards.end(), group.cards.begin(), group.cards.end())) {
      gpus += group.gpus.size();
    }
  }
  return gpus == 0 ? 0 : cards.size() / gpus;
}

/// The share of a group: at most `per_gpu`, and no more than leaves as much for each other GPU
/// whose nearest cards include all of the group's. It depends on which cards are whose nearest,
/// never on what others were dealt, so that a missing card can only make it smaller (docs/design/
/// 0004-shares-that-only-shrink.md).
std::size_t share_of(const Group& own, const std::vector<Group>& groups, std::size_t per_gpu) {
  std::size_t share = per_gpu;
  for (const auto& group : groups) {
    if (std::includes(group.cards.begin(), group.cards.end(), own.cards.begin(), own.cards.end())) {
      share = std::min(share, even_share(group.cards, groups));
    }
  }
  return std::max(share, std::size_t{1});
}

/// Whether the GPUs of a group have NICs of their own, or have to share.
enum class Share : std::uint8_t { own, common };

class DealBuilder {
 public:
  DealBuilder(const node::Node& node, const topology::Topology& topology,
              const OperatorRules& rules)
      : node_(node),
        topology_(topology) {
    deal_.roles = decide_roles(node, topology, rules);
    deal_.gpus.resize(node.gpus.size());
    collect_cards();
    join_cards(expected_of(node, rules.expect));
    const auto gpus = node.gpus.size();
    // K = max(1, ceil(cards / GPUs - 1/2)) in whole numbers.
    const auto doubled = 2 * deal_.cards.size();
    if (gpus != 0 && doubled > gpus) deal_.per_gpu = (doubled - gpus + 2 * gpus - 1) / (2 * gpus);
    load_.resize(deal_.cards.size());
  }

  Deal deal() {
    if (deal_.cards.empty()) {
      deal_nothing();
    } else {
      for (const auto& group : make_groups()) deal_to(group);
    }
    find_spares();
    if (!node_.gpus.empty()) add_warnings(node_, topology_, deal_);
    return std::move(deal_);
  }

 private:
  void collect_cards() {
    std::vector<std::size_t> compute;
    std::vector<Capability> capabilities(node_.nics.size());
    for (std::size_t i = 0; i < node_.nics.size(); ++i) {
      if (deal_.roles[i].role != Role::compute) continue;
      capabilities[i] = capability_of(node_, node_.nics[i]);
      compute.push_back(i);
    }
    for (auto& card : make_cards(node_, compute, capabilities)) {
      deal_.cards.push_back(std::move(card.nics));
    }
  }

  /// Cards of which one is expected to be up are one to the deal, in the place of the first.
  void join_cards(const std::vector<ExpectedNic>& expected) {
    std::map<const Expectation*, std::size_t> first;
    std::vector<std::vector<std::size_t>> joined;
    for (auto& card : deal_.cards) {
      const auto* entry = expected[card.front()].one_up;
      const auto [at, is_new] = first.try_emplace(entry, joined.size());
      if (entry == nullptr || is_new) {
        joined.push_back(std::move(card));
      } else {
        auto& whole = joined[at->second];
        whole.insert(whole.end(), card.begin(), card.end());
      }
    }
    deal_.cards = std::move(joined);
  }

  void deal_nothing() {
    for (auto& gpu : deal_.gpus) gpu.why = "no compute NIC";
    if (node_.gpus.empty() || node_.nics.empty()) return;
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < node_.nics.size() && seen.size() < 4; ++i) {
      if (deal_.roles[i].role == Role::virtual_function) continue;
      seen.push_back(node_.nics[i].name + " is " + std::string(to_string(deal_.roles[i].role)) +
                     " (" + deal_.roles[i].reason + ")");
    }
    deal_.warnings.push_back("no NIC is a compute NIC" +
                             (seen.empty() ? "" : ": " + join(seen, "; ")));
  }

  [[nodiscard]] topology::Nearness nearness(std::size_t gpu, std::size_t card) const {
    topology::Nearness best;
    for (const auto nic : deal_.cards[card]) best = std::min(best, topology_.gpu_nic[gpu][nic]);
    return best;
  }

  [[nodiscard]] std::vector<std::size_t> gpus_by_address() const {
    std::vector<std::size_t> order(node_.gpus.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(
        order, [&](std::size_t a, std::size_t b) { return node_.gpus[a].pci < node_.gpus[b].pci; });
    return order;
  }

  /// The set S of a GPU: all cards at the least nearness.
  [[nodiscard]] std::vector<std::size_t> nearest_cards(std::size_t gpu,
                                                       topology::Nearness& least) const {
    least = nearness(gpu, 0);
    for (std::size_t c = 1; c < deal_.cards.size(); ++c) least = std::min(least, nearness(gpu, c));
    std::vector<std::size_t> cards;
    for (std::size_t c = 0; c < deal_.cards.size(); ++c) {
      if (nearness(gpu, c) == least) cards.push_back(c);
    }
    return cards;
  }

  /// Groups by S, whatever the relation; nearest first, ties by the lowest GPU address.
  std::vector<Group> make_groups() {
    std::map<std::vector<std::size_t>, Group> by_cards;
    for (const auto gpu : gpus_by_address()) {
      GpuDeal& own = deal_.gpus[gpu];
      const auto cards = nearest_cards(gpu, own.nearness);
      for (const auto card : cards) append(own.nearest, card);
      Group& group = by_cards[cards];
      group.nearest = group.gpus.empty() ? own.nearness : std::min(group.nearest, own.nearness);
      group.cards = cards;
      group.gpus.push_back(gpu);
    }
    std::vector<Group> groups;
    for (auto& entry : by_cards) groups.push_back(std::move(entry.second));
    for (auto& group : groups) group.share = share_of(group, groups, deal_.per_gpu);
    std::ranges::sort(groups, [&](const Group& a, const Group& b) {
      if (a.nearest != b.nearest) return a.nearest < b.nearest;
      return node_.gpus[a.gpus.front()].pci < node_.gpus[b.gpus.front()].pci;
    });
    return groups;
  }

  void append(std::vector<std::size_t>& nics, std::size_t card) const {
    nics.insert(nics.end(), deal_.cards[card].begin(), deal_.cards[card].end());
  }

  void deal_to(const Group& group) {
    std::vector<std::size_t> free;
    for (const auto card : group.cards) {
      if (load_[card] == 0) free.push_back(card);
    }
    const auto gpus = group.gpus.size();
    const Share kind = free.size() >= gpus ? Share::own : Share::common;
    if (kind == Share::own) {
      const auto share = std::min(group.share, free.size() / gpus);
      for (std::size_t i = 0; i < gpus; ++i) {
        for (std::size_t k = 0; k < share; ++k) give(group, i, free[i * share + k]);
      }
    } else {
      const auto seats = least_loaded_seats(group);
      for (std::size_t i = 0; i < gpus; ++i) give(group, i, seats[i * seats.size() / gpus]);
    }
    for (std::size_t i = 0; i < gpus; ++i) say_why(group, i, kind);
  }

  void give(const Group& group, std::size_t i, std::size_t card) {
    append(deal_.gpus[group.gpus[i]].nics, card);
    ++load_[card];
  }

  /// Step 15 of docs/affinity.md: each card as often as it has room below c, the lowest level (GPUs
  /// on a card) at which all GPUs of the group find room.
  [[nodiscard]] std::vector<std::size_t> least_loaded_seats(const Group& group) const {
    std::size_t level = 0;
    std::size_t room = 0;
    while (room < group.gpus.size()) {
      ++level;
      room = 0;
      for (const auto card : group.cards) room += level > load_[card] ? level - load_[card] : 0;
    }
    std::vector<std::size_t> seats;
    for (const auto card : group.cards) {
      if (level > load_[card]) seats.insert(seats.end(), level - load_[card], card);
    }
    return seats;
  }

  /// "PXB below 0000:16:00.0; 2 of 8 NICs are nearest, to 2 GPUs: dealt as 1 of 2"
  void say_why(const Group& group, std::size_t i, Share share) {
    GpuDeal& own = deal_.gpus[group.gpus[i]];
    const node::Gpu& gpu = node_.gpus[group.gpus[i]];
    const auto gpus = group.gpus.size();
    own.why = nearness_text(node_, gpu, node_.nics[own.nics.front()], own.nearness) + "; " +
              std::to_string(group.cards.size()) + " of " + counted(deal_.cards.size(), "NIC") +
              (group.cards.size() == 1 ? " is nearest" : " are nearest");
    const std::string shared = share == Share::common ? ", shared" : "";
    if (gpus == 1) {
      own.why +=
          shared.empty() ? ", to this GPU alone" : ", to this GPU alone, all dealt before: shared";
    } else {
      own.why += ", to " + counted(gpus, "GPU") + ": dealt as " + std::to_string(i + 1) + " of " +
                 std::to_string(gpus) + shared;
    }
  }

  void find_spares() {
    std::vector<bool> dealt(node_.nics.size());
    std::map<std::size_t, std::size_t> near;  // NIC to the first GPU that has it among its nearest
    for (const auto g : gpus_by_address()) {
      for (const auto nic : deal_.gpus[g].nics) dealt[nic] = true;
      for (const auto nic : deal_.gpus[g].nearest) near.emplace(nic, g);
    }
    std::vector<std::size_t> spare;
    for (std::size_t i = 0; i < node_.nics.size(); ++i) {
      if (deal_.roles[i].role == Role::compute && !dealt[i]) spare.push_back(i);
    }
    std::ranges::sort(spare, [&](std::size_t a, std::size_t b) {
      return comes_before(node_.nics[a], node_.nics[b]);
    });
    for (const auto nic : spare) {
      const auto at = near.find(nic);
      if (at == near.end()) continue;
      deal_.warnings.push_back(node_.nics[nic].name + " is among the nearest NICs of " +
                               gpu_text(node_.gpus[at->second]) +
                               " and dealt to none: is it a compute NIC?");
    }
    deal_.spare = std::move(spare);
  }

  const node::Node& node_;
  const topology::Topology& topology_;
  Deal deal_;
  std::vector<std::size_t> load_;  ///< GPUs that have a card, by card
};

}  // namespace

Deal deal(const node::Node& node, const topology::Topology& topology, const OperatorRules& rules) {
  return DealBuilder(node, topology, rules).deal();
}

}  // namespace railhead::affinity
