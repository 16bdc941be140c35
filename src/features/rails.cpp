// SPDX-License-Identifier: Apache-2.0
#include "features/rails.h"

#include <algorithm>
#include <optional>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::features {
namespace {

std::optional<RailPlace> place_of(const node::Nic& nic) {
  if (!nic.pci) return std::nullopt;
  auto slot = *nic.pci;
  slot.function = 0;
  return RailPlace{slot, nic.sub_function.value_or("")};
}

/// Sorted; empty where a card has no place of its own.
Rails places_of(const node::Node& node, const affinity::Deal& deal) {
  Rails places;
  for (const auto& card : deal.cards) {
    const auto place = place_of(node.nics[card.front()]);
    if (!place || contains(places, *place)) return {};
    places.push_back(*place);
  }
  std::ranges::sort(places);
  return places;
}

}  // namespace

Rails rails_since(const Rails& before, const node::Node& node, const affinity::Deal& deal) {
  auto rails = places_of(node, deal);
  if (rails.empty()) return {};
  const auto is_there = [&](const RailPlace& place) {
    return std::ranges::any_of(node.nics,
                               [&](const node::Nic& nic) { return place_of(nic) == place; });
  };
  for (const auto& place : before) {
    if (!is_there(place)) rails.push_back(place);
  }
  std::ranges::sort(rails);
  return rails.size() > kMostRails ? Rails() : rails;
}

std::size_t rail_number(const Rails& rails, const node::Node& node, const affinity::Deal& deal,
                        std::size_t card) {
  const auto place = place_of(node.nics[deal.cards[card].front()]);
  const auto at = place ? std::ranges::find(rails, *place) : rails.end();
  return at == rails.end() ? card : static_cast<std::size_t>(at - rails.begin());
}

std::string to_text(const Rails& rails) {
  return join(rails, " ", [](const auto& rail) {
    const auto& [slot, sub_function] = rail;
    return slot.str() + (sub_function.empty() ? "" : "/" + sub_function);
  });
}

Rails parse_rails(std::string_view text) {
  Rails rails;
  for (const auto word : split_words(text)) {
    const auto slash = std::min(word.find('/'), word.size());
    const auto slot = node::pci_address_of(word.substr(0, slash));
    if (!slot || rails.size() == kMostRails) return {};
    rails.push_back({*slot, std::string(word.substr(std::min(slash + 1, word.size())))});
  }
  return rails;
}

}  // namespace railhead::features
