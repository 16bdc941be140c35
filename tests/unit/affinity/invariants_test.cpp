// SPDX-License-Identifier: Apache-2.0
//
// What holds for every machine: those in the box and random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/affinity/dealt.h"
#include "unit/affinity/many_machines.h"
#include "unit/affinity/variations.h"

namespace railhead::affinity {
namespace {

using test::Dealt;
using test::dealt_by_address;
using test::for_all_machines;
using test::for_committed_machines;
using test::for_random_machines;
using test::identity;
using test::RandomMachine;
using test::selected_by_address;

TEST(Invariants, order_and_names_of_devices_do_not_matter) {
  for_all_machines([](const node::Node& node, RandomMachine& random) {
    node::Node mixed = node;
    std::shuffle(mixed.gpus.begin(), mixed.gpus.end(), random.engine());
    std::shuffle(mixed.nics.begin(), mixed.nics.end(), random.engine());
    for (std::size_t i = 0; i < mixed.nics.size(); ++i) {
      mixed.nics[i].name = "rocep" + std::to_string(random.between(0, 1 << 20)) + "s0";
    }
    EXPECT_EQ(dealt_by_address(mixed), dealt_by_address(node));
    EXPECT_EQ(selected_by_address(mixed), selected_by_address(node));
  });
}

TEST(Invariants, other_bus_numbers_in_the_same_order_do_not_matter) {
  for_all_machines([](const node::Node& node, RandomMachine&) {
    const node::Node moved = test::renumbered(node);
    const Dealt before(node);
    const Dealt after(moved);
    for (std::size_t g = 0; g < node.gpus.size(); ++g) {
      EXPECT_EQ(after.deal.gpus[g].nics, before.deal.gpus[g].nics) << "GPU " << g;
      EXPECT_EQ(after.deal.gpus[g].nearest, before.deal.gpus[g].nearest) << "GPU " << g;
    }
    EXPECT_EQ(after.deal.spare, before.deal.spare);
    EXPECT_EQ(after.selection.nics, before.selection.nics);
  });
}

TEST(Invariants, nic_that_goes_down_moves_no_other_gpu_s_nics) {
  for_all_machines([](const node::Node& node, RandomMachine& random) {
    if (node.nics.empty()) return;
    const auto before = selected_by_address(node);
    node::Node broken = node;
    auto& victim = broken.nics[random.index(node.nics.size())];
    test::take_down(victim);
    EXPECT_EQ(dealt_by_address(broken), dealt_by_address(node)) << victim.name;
    for (const auto& [gpu, nics] : selected_by_address(broken)) {
      if (!before.at(gpu).contains(identity(victim))) {
        EXPECT_EQ(nics, before.at(gpu)) << victim.name;
      } else {
        EXPECT_FALSE(nics.contains(identity(victim))) << victim.name;
      }
    }
  });
}

TEST(Invariants, gpu_has_a_nic_wherever_a_usable_compute_nic_exists) {
  for_all_machines([](node::Node node, RandomMachine& random) {
    for (auto& nic : node.nics) {
      if (random.between(0, 2) == 0) test::take_down(nic);
    }
    const Dealt dealt(node);
    const auto usable = usability_of(node);
    bool any = false;
    for (const auto& card : dealt.deal.cards) {
      for (const auto nic : card) any = any || usable[nic].usable;
    }
    for (const auto& [gpu, nics] : selected_by_address(node)) EXPECT_EQ(!nics.empty(), any) << gpu;
  });
}

TEST(Invariants, only_compute_cards_are_dealt_and_only_from_the_nearest) {
  for_all_machines([](const node::Node& node, RandomMachine&) {
    const Dealt dealt(node);
    for (std::size_t g = 0; g < node.gpus.size(); ++g) {
      const auto& own = dealt.deal.gpus[g];
      EXPECT_EQ(own.nics.empty(), dealt.deal.cards.empty());
      for (const auto nic : own.nics) {
        EXPECT_EQ(dealt.deal.roles[nic].role, Role::compute);
        EXPECT_NE(std::ranges::find(own.nearest, nic), own.nearest.end());
      }
      for (const auto& card : dealt.deal.cards) {
        EXPECT_GE(dealt.topology.gpu_nic[g][card[0]], own.nearness);
      }
    }
  });
}

/// GPUs whose nearest NICs are all among these.
std::vector<std::size_t> gpus_within(const Dealt& dealt, const std::set<std::size_t>& cards) {
  std::vector<std::size_t> gpus;
  for (std::size_t g = 0; g < dealt.deal.gpus.size(); ++g) {
    const auto own = dealt.cards(dealt.deal.gpus[g].nearest);
    if (std::includes(cards.begin(), cards.end(), own.begin(), own.end())) gpus.push_back(g);
  }
  return gpus;
}

/// Whether each GPU of these can have a card of its own, nearest first: no set of nearest cards
/// has fewer cards than GPUs that depend on it.
bool enough_for_all(const Dealt& dealt, const std::vector<std::size_t>& gpus) {
  return std::ranges::all_of(gpus, [&](std::size_t g) {
    const auto cards = dealt.cards(dealt.deal.gpus[g].nearest);
    return cards.size() >= gpus_within(dealt, cards).size();
  });
}

TEST(Invariants, gpus_do_not_collide_where_their_nearest_nics_are_as_many) {
  for_all_machines([](const node::Node& node, RandomMachine&) {
    const Dealt dealt(node);
    for (std::size_t g = 0; g < node.gpus.size(); ++g) {
      const auto gpus = gpus_within(dealt, dealt.cards(dealt.deal.gpus[g].nearest));
      if (dealt.deal.cards.empty() || !enough_for_all(dealt, gpus)) continue;
      std::set<std::size_t> seen;
      for (const auto gpu : gpus) {
        for (const auto nic : dealt.deal.gpus[gpu].nics) {
          EXPECT_TRUE(seen.insert(nic).second) << node.nics[nic].name << " of GPU " << gpu;
        }
      }
    }
  });
}

/// Nobody gains, but a GPU that has lost all of its nearest NICs: it is dealt anew, as if it hung
/// where the next ones are (docs/design/0004-shares-that-only-shrink.md).
void expect_nobody_gains(const node::Node& node, const Dealt& before, std::size_t missing,
                         const std::vector<RoleOverride>& roles) {
  const Dealt after(test::without_card(node, before.deal.cards[missing]), roles);
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    const auto& own = before.deal.gpus[g];
    if (before.cards(own.nearest) == std::set{missing}) continue;
    EXPECT_LE(after.cards(after.deal.gpus[g].nics).size(), before.cards(own.nics).size())
        << "GPU " << g << " without " << node.nics[before.deal.cards[missing][0]].name;
  }
}

TEST(Invariants, with_any_one_nic_missing_no_gpu_gets_more) {
  for_all_machines([](const node::Node& node, RandomMachine& random) {
    const auto roles = test::fixed_roles(node);
    const Dealt before(node, roles);
    const auto cards = before.deal.cards.size();
    const std::size_t most = node.name.empty() ? 4 : cards;  // random ones have no name
    const std::size_t first = cards == 0 ? 0 : random.index(cards);
    for (std::size_t i = 0; i < std::min(most, cards); ++i) {
      expect_nobody_gains(node, before, (first + i) % cards, roles);
    }
  });
}

TEST(Invariants, machine_in_the_box_loses_any_one_nic_without_exception) {
  for_committed_machines([](const node::Node& node, RandomMachine&) {
    const auto roles = test::fixed_roles(node);
    const Dealt before(node, roles);
    for (const auto& card : before.deal.cards) {
      const Dealt after(test::without_card(node, card), roles);
      for (std::size_t g = 0; g < node.gpus.size(); ++g) {
        EXPECT_LE(after.cards(after.deal.gpus[g].nics).size(),
                  before.cards(before.deal.gpus[g].nics).size())
            << "GPU " << g << " without " << node.nics[card[0]].name;
      }
    }
  });
}

TEST(Invariants, machine_in_the_box_loses_any_one_nic_with_roles_judged_anew) {
  for_committed_machines([](const node::Node& node, RandomMachine&) {
    const Dealt before(node);
    if (before.deal.cards.size() < 3) return;  // the majority is gone
    for (const auto& card : before.deal.cards) {
      const Dealt after(test::without_card(node, card));
      for (std::size_t g = 0; g < node.gpus.size(); ++g) {
        EXPECT_LE(after.cards(after.deal.gpus[g].nics).size(),
                  before.cards(before.deal.gpus[g].nics).size())
            << "GPU " << g << " without " << node.nics[card[0]].name;
      }
    }
  });
}

TEST(Invariants, gpu_gets_one_nic_where_the_share_is_one) {
  for_all_machines([](const node::Node& node, RandomMachine&) {
    const Dealt dealt(node);
    if (dealt.deal.per_gpu > 1) return;
    for (const auto& gpu : dealt.deal.gpus) EXPECT_LE(dealt.cards(gpu.nics).size(), 1U);
  });
}

TEST(Invariants, missing_nic_changes_no_role_of_a_machine_in_the_box) {
  for_committed_machines([](const node::Node& node, RandomMachine&) {
    const Dealt before(node);
    for (const auto& card : before.deal.cards) {
      if (before.deal.cards.size() < 3) continue;  // the majority is gone
      const Dealt after(test::without_card(node, card));
      const auto gone = test::falls_with(node, card);
      std::size_t now = 0;
      for (std::size_t i = 0; i < node.nics.size(); ++i) {
        if (gone.contains(i)) continue;
        EXPECT_EQ(after.deal.roles[now++].role, before.deal.roles[i].role)
            << node.nics[i].name << " without " << node.nics[card[0]].name;
      }
    }
  });
}

TEST(Invariants, even_machine_is_dealt_without_collision_and_evenly) {
  for_random_machines(&RandomMachine::even, [](const node::Node& node, RandomMachine&) {
    const Deal deal = Dealt(node).deal;
    if (deal.cards.size() < node.gpus.size()) return;
    std::set<std::size_t> seen;
    for (const auto& gpu : deal.gpus) {
      EXPECT_EQ(gpu.nics.size(), deal.gpus[0].nics.size());
      for (const auto nic : gpu.nics) EXPECT_TRUE(seen.insert(nic).second);
    }
  });
}

}  // namespace
}  // namespace railhead::affinity
