// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "affinity/affinity.h"
#include "affinity/wording.h"
#include "base/contains.h"
#include "base/sort_unique.h"
#include "base/text.h"

namespace railhead::affinity {
namespace {

/// Steps 17 and 18 of docs/affinity.md: what is dealt and usable, else the nearest usable card.
class Selector {
 public:
  Selector(const node::Node& node, const topology::Topology& topology, const Deal& deal,
           const std::vector<Usability>& usable)
      : node_(node),
        topology_(topology),
        deal_(deal),
        usable_(usable) {}

  GpuChoice choose(std::size_t gpu, std::vector<std::string>& warnings) const {
    GpuChoice choice{gpu, {}};
    const GpuDeal& own = deal_.gpus[gpu];
    for (const auto nic : own.nics) {
      if (usable_[nic].usable) {
        choice.nics.push_back({nic, topology_.gpu_nic[gpu][nic], false, own.why});
      }
    }
    choice.lost = cards_without_use(own);
    if (choice.nics.empty() && !deal_.cards.empty()) {
      add_stand_in(choice, warnings);
    } else if (!choice.lost.empty()) {
      warnings.push_back(gpu_text(node_.gpus[gpu]) + ": " + unusable_text(choice.lost));
    }
    return choice;
  }

 private:
  /// Dealt devices of cards that have none that is usable. (One port of two without a cable is no
  /// loss.)
  [[nodiscard]] std::vector<std::size_t> cards_without_use(const GpuDeal& own) const {
    std::vector<std::size_t> missing;
    for (const auto& card : deal_.cards) {
      const bool dealt = contains(own.nics, card.front());
      const bool used =
          std::ranges::any_of(card, [&](std::size_t nic) { return usable_[nic].usable; });
      if (dealt && !used) missing.insert(missing.end(), card.begin(), card.end());
    }
    return missing;
  }

  void add_stand_in(GpuChoice& choice, std::vector<std::string>& warnings) const {
    const node::Gpu& gpu = node_.gpus[choice.gpu];
    const GpuDeal& own = deal_.gpus[choice.gpu];
    const auto* card = nearest_usable(choice.gpu);
    if (card == nullptr) {
      warnings.push_back(gpu_text(gpu) + ": no usable compute NIC" +
                         (own.nics.empty() ? "" : ": " + unusable_text(own.nics)));
      return;
    }
    std::vector<std::string> names;
    for (const auto nic : *card) {
      if (!usable_[nic].usable) continue;
      const topology::Nearness& near = topology_.gpu_nic[choice.gpu][nic];
      choice.nics.push_back({nic, near, true,
                             nearness_text(node_, gpu, node_.nics[nic], near) +
                                 "; stands in, nearest usable: " + unusable_text(own.nics)});
      names.push_back(node_.nics[nic].name);
    }
    warnings.push_back(gpu_text(gpu) + ": " + unusable_text(own.nics) + "; " + join(names, ", ") +
                       " stands in (" +
                       std::string(to_string(choice.nics.front().nearness.relation)) + ")");
  }

  /// "mlx5_0 is not usable (port 1 is DOWN)"
  [[nodiscard]] std::string unusable_text(const std::vector<std::size_t>& nics) const {
    return join(nics, ", ", [&](std::size_t nic) {
      return node_.nics[nic].name + " is not usable (" + usable_[nic].reason + ")";
    });
  }

  /// The usable card that is nearest, then has fewest GPUs, then the lowest address. The load is
  /// the deal's, never that of other stand-ins: the answer for a GPU depends on no other container.
  [[nodiscard]] const std::vector<std::size_t>* nearest_usable(std::size_t gpu) const {
    const std::vector<std::size_t>* best = nullptr;
    std::tuple<topology::Nearness, std::size_t> best_key;
    for (const auto& card : deal_.cards) {
      std::optional<topology::Nearness> near;
      for (const auto nic : card) {
        if (!usable_[nic].usable) continue;
        const topology::Nearness& own = topology_.gpu_nic[gpu][nic];
        near = near ? std::min(*near, own) : own;
      }
      if (!near) continue;
      const std::tuple key{*near, load_of(card.front())};
      if (best != nullptr && !(key < best_key)) continue;
      best = &card;
      best_key = key;
    }
    return best;
  }

  [[nodiscard]] std::size_t load_of(std::size_t nic) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        deal_.gpus, [&](const GpuDeal& gpu) { return contains(gpu.nics, nic); }));
  }

  const node::Node& node_;
  const topology::Topology& topology_;
  const Deal& deal_;
  const std::vector<Usability>& usable_;
};

}  // namespace

Selection select(const node::Node& node, const topology::Topology& topology, const Deal& deal,
                 const std::vector<Usability>& usable, const std::vector<std::size_t>& gpus) {
  const Selector selector(node, topology, deal, usable);
  Selection selection;
  const auto is_chosen_for = [&](std::size_t gpu) {
    return std::ranges::any_of(selection.gpus,
                               [gpu](const GpuChoice& one) { return one.gpu == gpu; });
  };
  for (const auto gpu : gpus) {
    if (gpu >= node.gpus.size() || is_chosen_for(gpu)) continue;
    selection.gpus.push_back(selector.choose(gpu, selection.warnings));
    for (const auto& choice : selection.gpus.back().nics) selection.nics.push_back(choice.nic);
  }
  sort_unique(selection.nics);
  if (node.nics.empty() && !selection.gpus.empty()) {
    selection.warnings.emplace_back("no RDMA device on this node");
  }
  return selection;
}

}  // namespace railhead::affinity
