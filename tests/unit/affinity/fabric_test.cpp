// SPDX-License-Identifier: Apache-2.0
#include "affinity/fabric.h"

#include <gtest/gtest.h>

namespace railhead::affinity {
namespace {

std::vector<CardTraits> cards(std::size_t number, node::LinkLayer layer, unsigned gbps,
                              unsigned functions = 1) {
  CardTraits traits;
  traits.card.capability = {layer, gbps, 16};
  traits.functions = functions;
  return std::vector<CardTraits>(number, traits);
}

std::vector<CardTraits> operator+(std::vector<CardTraits> a, const std::vector<CardTraits>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

constexpr auto kInfiniBand = node::LinkLayer::infiniband;
constexpr auto kEthernet = node::LinkLayer::ethernet;

TEST(Fabric, most_bandwidth_wins) {
  const auto many = elect_fabric(cards(8, kInfiniBand, 200) + cards(1, kEthernet, 400));
  EXPECT_EQ(many.gbps, 200U);
  EXPECT_EQ(many.cards, 8U);
  const auto fast = elect_fabric(cards(4, kEthernet, 25) + cards(1, kEthernet, 400));
  EXPECT_EQ(fast.gbps, 400U);
}

TEST(Fabric, tie_goes_to_infiniband) {
  EXPECT_EQ(elect_fabric(cards(2, kEthernet, 400) + cards(2, kInfiniBand, 400)).link_layer,
            kInfiniBand);
  EXPECT_EQ(elect_fabric(cards(2, kInfiniBand, 400) + cards(2, kEthernet, 400)).link_layer,
            kInfiniBand);
}

TEST(Fabric, number_of_functions_needs_twice_as_many_cards) {
  EXPECT_EQ(elect_fabric(cards(8, kEthernet, 400) + cards(4, kEthernet, 400, 2)).functions, 1U);
  EXPECT_EQ(elect_fabric(cards(8, kEthernet, 400) + cards(5, kEthernet, 400, 2)).functions,
            std::nullopt);
}

TEST(Fabric, nothing_elects_nothing_and_finds_no_outlier) {
  const auto fabric = elect_fabric({});
  EXPECT_EQ(fabric.cards, 0U);
  EXPECT_FALSE(find_outlier(cards(1, kEthernet, 100)[0], fabric));
}

TEST(Fabric, unknown_traits_are_no_evidence) {
  const auto fabric = elect_fabric(cards(4, kInfiniBand, 400));
  EXPECT_FALSE(find_outlier(cards(1, node::LinkLayer::unknown, 0)[0], fabric));
  EXPECT_FALSE(find_outlier(cards(1, kInfiniBand, 0)[0], fabric));
}

TEST(Fabric, only_another_link_layer_and_a_quarter_speed_are_certain) {
  const auto fabric = elect_fabric(cards(4, kInfiniBand, 400));
  EXPECT_TRUE(find_outlier(cards(1, kEthernet, 400)[0], fabric)->certain);
  EXPECT_TRUE(find_outlier(cards(1, kInfiniBand, 100)[0], fabric)->certain);
  EXPECT_FALSE(find_outlier(cards(1, kInfiniBand, 200)[0], fabric)->certain);
  EXPECT_FALSE(find_outlier(cards(1, kInfiniBand, 800)[0], fabric)->certain);
  EXPECT_FALSE(find_outlier(cards(1, kInfiniBand, 400, 2)[0], fabric)->certain);
}

}  // namespace
}  // namespace railhead::affinity
