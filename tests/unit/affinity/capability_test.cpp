// SPDX-License-Identifier: Apache-2.0
#include "affinity/capability.h"

#include <gtest/gtest.h>

#include "unit/node_builder.h"

namespace railhead::affinity {
namespace {

using test::NodeBuilder;
using test::Slot;

struct OneHostBridge {
  NodeBuilder b;
  Slot root;

  OneHostBridge() { root = b.host_bridge(0x10, 0); }

  Capability of(std::size_t nic) const {
    const node::Node node = b.build();
    return capability_of(node, node.nics.at(nic));
  }
};

TEST(Capability, port_that_is_down_keeps_link_layer_and_speed) {
  OneHostBridge m;
  m.b.nic(m.b.bridge(m.root)).infiniband(400);
  m.b.nic(m.b.bridge(m.root)).infiniband(400).down();
  EXPECT_EQ(m.of(0), m.of(1));
  EXPECT_EQ(m.of(1), (Capability{node::LinkLayer::infiniband, 400, 16}));
}

TEST(Capability, function_without_driver_is_what_its_pci_class_and_model_say) {
  OneHostBridge m;
  m.b.nic(m.b.bridge(m.root)).infiniband(400).unregistered();
  m.b.nic(m.b.bridge(m.root)).ethernet(400).unregistered();
  EXPECT_EQ(m.of(0), (Capability{node::LinkLayer::infiniband, 400, 16}));
  EXPECT_EQ(m.of(1), (Capability{node::LinkLayer::ethernet, 400, 16}));
}

TEST(Capability, pcie_interface_limits_the_model) {
  OneHostBridge m;
  m.b.nic(m.b.bridge(m.root)).ids(0x15b3, 0x1021).pcie(32, 2);
  m.b.nic(m.b.bridge(m.root)).ids(0x15b3, 0x1021).pcie(16, 16);
  EXPECT_EQ(m.of(0).gbps, 50U);
  EXPECT_EQ(m.of(1).gbps, 200U);
}

TEST(Capability, unknown_model_is_as_fast_as_its_pcie_interface) {
  OneHostBridge m;
  m.b.nic(m.b.bridge(m.root)).ids(0x14e4, 0x9999).pcie(8, 16);
  m.b.nic(m.b.bridge(m.root)).ids(0x14e4, 0x9998).pcie(5, 8);
  EXPECT_EQ(m.of(0).gbps, 100U);
  EXPECT_EQ(m.of(1).gbps, 25U);
}

TEST(Capability, a_port_that_is_down_is_as_fast_as_another_card_of_its_model) {
  OneHostBridge m;
  m.b.nic(m.b.bridge(m.root)).ids(0x1dd8, 0x1, 7).infiniband(200);
  m.b.nic(m.b.bridge(m.root)).ids(0x1dd8, 0x1, 7).infiniband(200).down();
  m.b.nic(m.b.bridge(m.root)).ids(0x1dd8, 0x1, 8).infiniband(200).down();
  for (auto& pci : m.b.raw().pci) {
    pci.max_link_gts.reset();
    pci.max_link_width.reset();
  }
  EXPECT_EQ(m.of(0).gbps, 200U);
  EXPECT_EQ(m.of(1).gbps, 200U);
  EXPECT_EQ(m.of(2).gbps, 0U) << "another card of another subsystem id";
}

TEST(Capability, lanes_are_those_that_card_and_slot_have_in_common) {
  OneHostBridge m;
  const Slot slot = m.b.bridge(m.root);
  m.b.nic(slot).pcie(32, 16);
  for (auto& pci : m.b.raw().pci) {
    if (pci.address == slot.bridges.back()) pci.max_link_width = 2;
  }
  EXPECT_EQ(m.of(0).lanes, 2U);
  m.b.raw().hypervisor = true;
  EXPECT_EQ(m.of(0).lanes, 16U) << "a virtual slot invents its lanes";
}

TEST(Capability, link_that_trained_narrow_does_not_count) {
  OneHostBridge m;
  m.b.nic(m.b.bridge(m.root));
  for (auto& pci : m.b.raw().pci) pci.link_width = 1;
  EXPECT_EQ(m.of(0).lanes, 16U);
}

TEST(Capability, an_unknown_link_layer_follows_the_class_and_is_not_printed) {
  OneHostBridge m;
  m.b.nic(m.b.bridge(m.root)).ethernet(400).ids(0x1d0f, 0xefa3);
  for (auto& port : m.b.raw().nics[0].ports) port.link_layer = node::LinkLayer::unknown;
  EXPECT_EQ(m.of(0).link_layer, node::LinkLayer::ethernet);
  EXPECT_EQ(to_text(m.of(0)), "400 Gb/s");
}

TEST(Capability, text_names_what_is_known) {
  EXPECT_EQ(to_text({node::LinkLayer::infiniband, 400, 16}), "InfiniBand 400 Gb/s");
  EXPECT_EQ(to_text({node::LinkLayer::ethernet, 0, 0}), "Ethernet");
}

}  // namespace
}  // namespace railhead::affinity
