// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "affinity/affinity.h"
#include "unit/affinity/random_machine.h"
#include "unit/machines.h"

namespace railhead {
namespace {

using test::RandomMachine;

constexpr unsigned kMachines = 300;

struct Dealt {
  Topology topology;
  Deal deal;

  explicit Dealt(const Node& node)
      : topology(make_topology(node)),
        deal(railhead::deal(node, topology, {})) {}
};

/// PCI address of a NIC, or the parent netdev of a soft one: an identity that renaming leaves
/// alone.
std::string identity(const Nic& nic) {
  return nic.pci ? nic.pci->str() : nic.parent.value_or("?");
}

using ByAddress = std::map<std::string, std::set<std::string>>;

ByAddress dealt_by_address(const Node& node) {
  const Dealt dealt(node);
  ByAddress result;
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    auto& nics = result[node.gpus[g].pci.str()];
    for (const auto nic : dealt.deal.gpus[g].nics) nics.insert(identity(node.nics[nic]));
  }
  return result;
}

ByAddress selected_by_address(const Node& node) {
  const Dealt dealt(node);
  std::vector<std::size_t> all(node.gpus.size());
  for (std::size_t g = 0; g < all.size(); ++g) all[g] = g;
  ByAddress result;
  for (const auto& choice :
       select(node, dealt.topology, dealt.deal, usability_of(node), all).gpus) {
    auto& nics = result[node.gpus[choice.gpu].pci.str()];
    for (const auto& nic : choice.nics) nics.insert(identity(node.nics[nic.nic]));
  }
  return result;
}

void take_down(Nic& nic) {
  for (auto& port : nic.ports) {
    port.state = PortState::down;
    port.rate_gbps = 10;
    port.rate_text = "10 Gb/sec (4X SDR)";
  }
}

/// Calls check(node, generator) for many machines, each with its seed in the trace.
template <typename Check>
void for_many_machines(Node (RandomMachine::*make)(), Check check) {
  for (unsigned seed = 1; seed <= kMachines; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomMachine random(seed);
    check((random.*make)(), random);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Invariants, order_and_names_of_devices_do_not_matter) {
  for_many_machines(&RandomMachine::any, [](const Node& node, RandomMachine& random) {
    Node mixed = node;
    std::shuffle(mixed.gpus.begin(), mixed.gpus.end(), random.engine());
    std::shuffle(mixed.nics.begin(), mixed.nics.end(), random.engine());
    for (std::size_t i = 0; i < mixed.nics.size(); ++i) {
      mixed.nics[i].name = "rocep" + std::to_string(random.between(0, 1 << 20)) + "s0";
    }
    EXPECT_EQ(dealt_by_address(mixed), dealt_by_address(node));
    EXPECT_EQ(selected_by_address(mixed), selected_by_address(node));
  });
}

TEST(Invariants, nic_that_goes_down_moves_no_other_gpu_s_nics) {
  for_many_machines(&RandomMachine::any, [](const Node& node, RandomMachine& random) {
    if (node.nics.empty()) return;
    const auto before = selected_by_address(node);
    Node broken = node;
    auto& victim = broken.nics[static_cast<std::size_t>(
        random.between(0, static_cast<int>(node.nics.size()) - 1))];
    take_down(victim);
    EXPECT_EQ(dealt_by_address(broken), dealt_by_address(node));
    for (const auto& [gpu, nics] : selected_by_address(broken)) {
      if (!before.at(gpu).contains(identity(victim))) {
        EXPECT_EQ(nics, before.at(gpu));
      } else {
        EXPECT_FALSE(nics.contains(identity(victim)));
      }
    }
  });
}

TEST(Invariants, gpu_has_a_nic_wherever_a_usable_compute_nic_exists) {
  for_many_machines(&RandomMachine::any, [](Node node, RandomMachine& random) {
    for (auto& nic : node.nics) {
      if (random.between(0, 2) == 0) take_down(nic);
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
  for_many_machines(&RandomMachine::any, [](const Node& node, RandomMachine&) {
    const Dealt dealt(node);
    for (std::size_t g = 0; g < node.gpus.size(); ++g) {
      const auto& own = dealt.deal.gpus[g];
      for (const auto nic : own.nics) {
        EXPECT_EQ(dealt.deal.roles[nic].role, Role::compute);
        EXPECT_NE(std::find(own.nearest.begin(), own.nearest.end(), nic), own.nearest.end());
      }
      for (const auto& card : dealt.deal.cards) {
        EXPECT_GE(dealt.topology.gpu_nic[g][card[0]], own.nearness);
      }
    }
  });
}

TEST(Invariants, gpus_do_not_collide_where_their_nearest_nics_are_as_many) {
  for_many_machines(&RandomMachine::any, [](const Node& node, RandomMachine&) {
    const Deal deal = Dealt(node).deal;
    std::map<std::size_t, std::size_t> card_of;
    for (std::size_t c = 0; c < deal.cards.size(); ++c) {
      for (const auto nic : deal.cards[c]) card_of[nic] = c;
    }
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> groups;
    for (std::size_t g = 0; g < node.gpus.size(); ++g) groups[deal.gpus[g].nearest].push_back(g);
    for (const auto& [nearest, gpus] : groups) {
      std::set<std::size_t> cards;
      for (const auto nic : nearest) cards.insert(card_of[nic]);
      bool alone = true;
      for (const auto& [others, unused] : groups) {
        const bool meets = std::find_first_of(nearest.begin(), nearest.end(), others.begin(),
                                              others.end()) != nearest.end();
        if (others != nearest && meets) alone = false;
      }
      if (!alone || cards.size() < gpus.size()) continue;
      std::set<std::size_t> seen;
      for (const auto gpu : gpus) {
        for (const auto nic : deal.gpus[gpu].nics) EXPECT_TRUE(seen.insert(nic).second);
      }
    }
  });
}

/// Removes a NIC as if it had fallen off the bus.
Node without(Node node, std::size_t nic) {
  const auto address = node.nics[nic].pci;
  node.nics.erase(node.nics.begin() + static_cast<std::ptrdiff_t>(nic));
  std::erase_if(node.pci, [&](const PciDevice& device) { return device.address == address; });
  return node;
}

void expect_nobody_gains(const ByAddress& before, const Node& node, std::size_t missing) {
  for (const auto& [gpu, nics] : dealt_by_address(without(node, missing))) {
    EXPECT_LE(nics.size(), before.at(gpu).size()) << gpu << " without NIC " << missing;
  }
}

TEST(Invariants, with_any_one_nic_missing_no_gpu_gets_more) {
  for_many_machines(&RandomMachine::even, [](const Node& node, RandomMachine& random) {
    const auto missing = random.between(0, static_cast<int>(node.nics.size()) - 1);
    expect_nobody_gains(dealt_by_address(node), node, static_cast<std::size_t>(missing));
  });
  for (const Node& node : {test::eight_gpus_four_nics().build(), test::dgx_h100().build(),
                           test::dgx_a100().build(), test::eight_gpus_32_nics().build()}) {
    const auto before = dealt_by_address(node);
    for (std::size_t i = 0; i < node.nics.size(); ++i) expect_nobody_gains(before, node, i);
  }
}

TEST(Invariants, even_machine_is_dealt_without_collision_and_evenly) {
  for_many_machines(&RandomMachine::even, [](const Node& node, RandomMachine&) {
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
}  // namespace railhead
