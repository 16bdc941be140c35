// SPDX-License-Identifier: Apache-2.0
#include "bench/expected.h"

#include <gmock/gmock.h>

namespace railhead::bench {
namespace {

constexpr std::uint64_t kSize = 1 << 20;

/// A port of 100 Gb/s behind a link of Gen3 x16, which carries 115 Gb/s of payload.
data::Json lane(const std::string& nic, const std::string& pci) {
  return {{"nic", nic},      {"port", 1},       {"linkLayer", "InfiniBand"},          {"pci", pci},
          {"rateGbps", 100}, {"pathMtu", 4096}, {"pcie", {{"gts", 8}, {"width", 16}}}};
}

data::Json side(const std::vector<data::Json>& lanes) {
  return {{"lanes", lanes}};
}

const data::Json kTwoCards = side({lane("a", "0000:18:00.0"), lane("b", "0000:3b:00.0")});
const data::Json kTwoPorts = side({lane("c", "0000:5e:00.0"), lane("d", "0000:5e:00.1")});

TEST(Expectation, cards_of_their_own_add_up) {
  const auto both = expectation(kTwoCards, kTwoCards, kSize);
  EXPECT_NEAR(both->gbps, 198.7, 0.1);
  EXPECT_EQ(both->limited_by, "link of a");
}

TEST(Expectation, two_ports_of_a_card_share_its_slot_on_either_side) {
  for (const auto& [here, there] :
       {std::pair(kTwoPorts, kTwoCards), std::pair(kTwoCards, kTwoPorts),
        std::pair(kTwoPorts, kTwoPorts)}) {
    const auto shared = expectation(here, there, kSize);
    EXPECT_NEAR(shared->gbps, 115.2, 0.1);
    EXPECT_EQ(shared->limited_by, "PCIe of c and d together");
  }
}

TEST(Expectation, a_slot_that_carries_all_its_ports_takes_nothing_away) {
  auto wide = kTwoPorts;
  for (auto& one : wide["lanes"]) one["pcie"]["gts"] = 16;
  EXPECT_NEAR(expectation(wide, wide, kSize)->gbps, 198.7, 0.1);
}

TEST(Expectation, cards_shared_on_different_sides_are_each_counted_once) {
  const auto here = side({lane("a", "0000:18:00.0"), lane("b", "0000:18:00.1"),
                          lane("e", "0000:3b:00.0"), lane("f", "0000:5e:00.0")});
  const auto there = side({lane("a", "0000:18:00.0"), lane("b", "0000:3b:00.0"),
                           lane("e", "0000:5e:00.0"), lane("f", "0000:5e:00.1")});
  EXPECT_NEAR(expectation(here, there, kSize)->gbps, 230.4, 0.1);
}

TEST(Expectation, a_link_that_trained_to_less_lowers_nothing) {
  auto degraded = kTwoCards;
  for (auto& one : degraded["lanes"]) {
    one["pciePossible"] = one["pcie"];
    one["pcie"]["width"] = 4;
  }
  EXPECT_NEAR(expectation(degraded, kTwoCards, kSize)->gbps, 198.7, 0.1);
  EXPECT_EQ(degraded_links(degraded).front(),
            "PCIe of a is degraded: trained to 8 GT/s x4 where 8 GT/s x16 is possible");
  EXPECT_TRUE(degraded_links(kTwoCards).empty());
  EXPECT_TRUE(degraded_links(data::Json("nonsense")).empty());
}

TEST(Expectation, an_end_that_is_not_known_is_named) {
  auto soft = kTwoCards;
  soft["lanes"][1]["pci"] = nullptr;
  EXPECT_EQ(expectation(kTwoCards, soft, kSize).error().message,
            "b has no PCI function, and so no rate of its own");
  auto mute = kTwoCards;
  mute["lanes"][0].erase("rateGbps");
  EXPECT_EQ(expectation(mute, kTwoCards, kSize).error().message,
            "a does not say the rate of its port");
  EXPECT_FALSE(expectation(kTwoCards, data::Json("nonsense"), kSize));
}

}  // namespace
}  // namespace railhead::bench
