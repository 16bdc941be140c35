// SPDX-License-Identifier: Apache-2.0
#include "topology/contradiction.h"

#include <gtest/gtest.h>

#include "unit/machines.h"

namespace railhead::topology {
namespace {

/// Every GPU and NIC of the node where it is.
Layout as_it_is(const node::Node& node) {
  Layout layout;
  for (const auto& device : node.pci) {
    if (device.is_bridge()) continue;
    layout.positions.push_back({device.address, device.root, device.bridges, device.numa_node});
  }
  return layout;
}

Position& position_of(Layout& layout, const node::PciAddress& address) {
  for (auto& position : layout.positions) {
    if (position.function == address) return position;
  }
  ADD_FAILURE() << address.str();
  return layout.positions.front();
}

TEST(Contradiction, a_layout_of_the_same_tree_agrees) {
  const node::Node node = test::dgx_h100().build();
  const auto layout = as_it_is(node);
  EXPECT_EQ(contradicted_gpus(node, moved(node, layout), layout), "");
}

TEST(Contradiction, a_choice_among_the_nearest_agrees) {
  const node::Node node = test::dgx_a100().build();
  Layout layout = as_it_is(node);
  // A switch of its own for GPU 0 and one of the two NICs that are PXB to it.
  const node::PciAddress invented{0xffff, 0xff, 1, 0};
  for (const auto& address : {node.gpus[0].pci, *node.nics[1].pci}) {
    position_of(layout, address)
        .bridges.insert(position_of(layout, address).bridges.end() - 1, invented);
  }
  const node::Node claim = moved(node, layout);
  EXPECT_EQ(contradicted_gpus(node, claim, layout), "");
}

TEST(Contradiction, other_nics_are_named_with_their_gpus) {
  const node::Node node = test::dgx_h100().build();
  Layout layout = as_it_is(node);
  auto& first = position_of(layout, *node.nics[0].pci);
  auto& second = position_of(layout, *node.nics[1].pci);
  std::swap(first.bridges, second.bridges);
  std::swap(first.root, second.root);
  EXPECT_EQ(contradicted_gpus(node, moved(node, layout), layout),
            "GPUs " + node.gpus[0].pci.str() + ", " + node.gpus[1].pci.str());
}

TEST(Contradiction, nearest_nics_that_only_overlap_contradict) {
  const node::Node node = test::dgx_a100().build();
  Layout layout = as_it_is(node);
  // GPU 0 has NIC 0 and NIC 1 nearest; the claim puts NIC 1 elsewhere and NIC 2 in its place.
  auto& own = position_of(layout, *node.nics[1].pci);
  auto& other = position_of(layout, *node.nics[2].pci);
  std::swap(own.bridges, other.bridges);
  std::swap(own.root, other.root);
  EXPECT_EQ(contradicted_gpus(node, moved(node, layout), layout),
            "GPUs " + node.gpus[0].pci.str() + ", " + node.gpus[1].pci.str() + ", " +
                node.gpus[2].pci.str() + ", " + node.gpus[3].pci.str());
}

TEST(Contradiction, nics_that_the_layout_does_not_know_do_not_count) {
  const node::Node node = test::dgx_h100().build();
  Layout layout = as_it_is(node);
  std::erase_if(layout.positions,
                [&](const Position& position) { return position.function == *node.nics[0].pci; });
  EXPECT_EQ(contradicted_gpus(node, moved(node, layout), layout), "");
}

TEST(Contradiction, a_tree_without_switches_cannot_be_contradicted) {
  const node::Node node = test::eight_gpus_four_nics().build();
  Layout layout = as_it_is(node);
  auto& first = position_of(layout, *node.nics[0].pci);
  auto& last = position_of(layout, *node.nics[3].pci);
  std::swap(first.root, last.root);
  EXPECT_EQ(contradicted_gpus(node, moved(node, layout), layout), "");
}

}  // namespace
}  // namespace railhead::topology
