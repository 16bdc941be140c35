// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "affinity/capability.h"
#include "node/node.h"

namespace railhead::affinity {

/// RDMA devices that are one NIC to the deal: the functions of one card. Indices into Node::nics.
struct Card {
  std::vector<std::size_t> nics;  ///< by PCI address
  Capability capability;
};

/// Whether two NICs are functions of one PCI device: they differ in the function's number alone.
bool are_in_one_slot(const node::Nic& a, const node::Nic& b);

/// Order of the whole affinity layer: by PCI address, soft devices last, by name. Lists of a Node
/// are sorted so already; sorting again makes the answer independent of it.
bool comes_before(const node::Nic& a, const node::Nic& b);

/// Groups NICs by card, sorted: same domain:bus:device, and same sys_image_guid where both have
/// one. Of devices that differ in link layer or speed only the fastest are the card (InfiniBand
/// before Ethernet); the others are in no card. A soft device, a virtual function and a
/// sub-function are cards of their own.
std::vector<Card> make_cards(const node::Node& node, std::vector<std::size_t> nics,
                             const std::vector<Capability>& capabilities);

}  // namespace railhead::affinity
