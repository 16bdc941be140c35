// SPDX-License-Identifier: Apache-2.0
#include "bench/expectation.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "bench/evidence.h"
#include "bench/expected.h"

namespace railhead::bench {
namespace {

/// A card, with all of its functions, as the lanes of one side use it.
struct Card {
  double gbps = 0;  ///< of payload over its PCIe link
  std::vector<std::size_t> lanes;
  std::vector<std::string> nics;
};

/// Those whose PCIe link is known, by domain, bus and device.
std::map<std::string, Card> cards_of(const data::Json& lanes) {
  std::map<std::string, Card> cards;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto place = place_of(lanes[i]);
    if (!place.pci || !place.pcie_gts || !place.pcie_width) continue;
    auto& card = cards[place.pci->substr(0, place.pci->rfind('.'))];
    card.gbps = std::max(card.gbps, pcie_payload_gbps(*place.pcie_gts, *place.pcie_width));
    card.lanes.push_back(i);
    card.nics.push_back(place.nic);
  }
  return cards;
}

/// Lanes that are more than their card can carry get equal parts less, as they do in fact.
void share_cards(const data::Json& lanes, std::vector<ExpectedRate>& rates) {
  for (const auto& [address, card] : cards_of(lanes)) {
    double sum = 0;
    for (const auto lane : card.lanes) sum += rates[lane].gbps;
    if (card.lanes.size() < 2 || sum <= card.gbps) continue;
    for (const auto lane : card.lanes) {
      rates[lane] = {rates[lane].gbps * card.gbps / sum,
                     "PCIe of " + join(card.nics, " and ") + " together"};
    }
  }
}

}  // namespace

Result<StepExpectation> expectation(const data::Json& here, const data::Json& there,
                                    std::uint64_t size_bytes) {
  const auto* ours = lanes_of(here);
  const auto* theirs = lanes_of(there);
  if (ours == nullptr || theirs == nullptr || ours->size() != theirs->size() || ours->empty()) {
    return Error{ErrorCode::unavailable, "a side does not say which NICs it used"};
  }
  std::vector<ExpectedRate> rates;
  for (std::size_t i = 0; i < ours->size(); ++i) {
    const auto mtu = field<unsigned>((*ours)[i], "pathMtu").value_or(0);
    auto one = TRY(expected_rate(place_of((*ours)[i]), mtu, size_bytes));
    auto other = TRY(expected_rate(place_of((*theirs)[i]), mtu, size_bytes));
    rates.push_back(other.gbps < one.gbps ? std::move(other) : std::move(one));
  }
  share_cards(*ours, rates);
  share_cards(*theirs, rates);
  StepExpectation sum;
  sum.limited_by = rates.front().limited_by;
  for (const auto& rate : rates) sum.gbps += rate.gbps;
  return sum;
}

}  // namespace railhead::bench
