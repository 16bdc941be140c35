// SPDX-License-Identifier: Apache-2.0
#include "bench/expected.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "bench/evidence.h"

namespace railhead::bench {
namespace {

// Bytes around the payload of each packet.
// InfiniBand (IBTA 1.4, 5.2): LRH 8, BTH 12, ICRC 4, VCRC 2.
constexpr double kInfiniBand = 26;
// RoCE v2 (IBTA annex A17): preamble, gap and FCS 24, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4.
constexpr double kRoce = 82;
constexpr double kIpv6More = 20;
constexpr double kGlobalHeader = 40;  // IBTA 1.4, 8.3
// RETH, once a message.
constexpr double kFirstPacket = 16;

/// A card, with all of its functions, as the lanes of one side use it.
struct Card {
  double gbps = 0;  ///< of payload over its PCIe link
  std::vector<std::size_t> lanes;
  std::vector<std::string> nics;
};

/// "32 GT/s x16"
std::string text_of(const PcieLink& link) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%g GT/s x%u", link.gts, link.width);
  return text.data();
}

/// Those whose PCIe link is known, by domain, bus and device.
std::map<std::string, Card> cards_of(const data::Json& lanes) {
  std::map<std::string, Card> cards;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto place = place_of(lanes[i]);
    const auto link = place.pcie_built();
    if (!place.pci || !link) continue;
    auto& card = cards[place.pci->substr(0, place.pci->rfind('.'))];
    card.gbps = std::max(card.gbps, pcie_payload_gbps(*link));
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

double link_efficiency(bool infiniband, bool global, unsigned mtu_bytes,
                       std::uint64_t message_bytes) {
  const auto payload = static_cast<double>(message_bytes);
  const std::uint64_t packets = (message_bytes + mtu_bytes - 1) / mtu_bytes;
  const double more = infiniband ? kGlobalHeader : kIpv6More;
  const double each = (infiniband ? kInfiniBand : kRoce) + (global ? more : 0);
  return payload / (payload + static_cast<double>(packets) * each + kFirstPacket);
}

double pcie_payload_gbps(const PcieLink& link) {
  // Header sizes: R. Neugebauer et al., "Understanding PCIe performance for end host networking",
  // SIGCOMM 2018, section 3: 2 framing, 6 data link, 16 of a write with a 64-bit address.
  constexpr double kPayload = 256;
  constexpr double kAround = 24;
  const double encoding = link.gts > 5 ? 128.0 / 130 : 0.8;
  return link.speed() * encoding * kPayload / (kPayload + kAround);
}

Result<ExpectedRate> expected_rate(const Place& place, unsigned mtu_bytes,
                                   std::uint64_t message_bytes) {
  constexpr std::string_view kMappedIpv4 = "0000:0000:0000:0000:0000:ffff:";
  const auto unknown = [&](const char* why) {
    return Error{ErrorCode::unavailable, place.nic + why};
  };
  if (!place.pci) return unknown(" has no PCI function, and so no rate of its own");
  if (!place.rate_gbps) return unknown(" does not say the rate of its port");
  if (mtu_bytes == 0) return unknown(" has no path MTU");
  const bool global = place.gid && place.gid->rfind(kMappedIpv4, 0) != 0;
  ExpectedRate expected;
  expected.gbps =
      *place.rate_gbps * link_efficiency(place.infiniband, global, mtu_bytes, message_bytes);
  expected.limited_by = "link of " + place.nic;
  if (const auto link = place.pcie_built()) {
    const double pcie = pcie_payload_gbps(*link);
    if (pcie < expected.gbps) expected = {pcie, "PCIe of " + place.nic};
  }
  return expected;
}

Result<ExpectedRate> expectation(const data::Json& here, const data::Json& there,
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
  ExpectedRate sum;
  sum.limited_by = rates.front().limited_by;
  for (const auto& rate : rates) sum.gbps += rate.gbps;
  return sum;
}

std::vector<std::string> degraded_links(const data::Json& evidence) {
  std::vector<std::string> found;
  const auto* lanes = lanes_of(evidence);
  if (lanes == nullptr) return found;
  for (const auto& lane : *lanes) {
    const auto place = place_of(lane);
    if (!place.pcie_is_degraded()) continue;
    found.push_back("PCIe of " + place.nic + " is degraded: trained to " + text_of(*place.pcie) +
                    " where " + text_of(*place.pcie_possible) + " is possible");
  }
  return found;
}

}  // namespace railhead::bench
