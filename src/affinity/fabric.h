// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "affinity/affinity.h"
#include "affinity/card.h"

namespace railhead::affinity {

/// A card with the traits by which a compute card differs from a storage or front-end card.
struct CardTraits {
  Card card;
  unsigned functions = 1;  ///< physical functions of the slot, whatever their role
  bool bluefield = false;
  bool enslaved = false;     ///< its netdev is a member of a bond or bridge
  std::string main_route{};  ///< the netdev by which it carries the main default route; "": none
};

/// What most of a machine's cards are, and so what its GPUs talk through. Elected, because no
/// single trait of a card says what it is for.
struct Fabric {
  node::LinkLayer link_layer = node::LinkLayer::unknown;
  unsigned gbps = 0;
  bool tied = false;                  ///< others have as much bandwidth: it proves nothing
  bool unnamed_layer = false;         ///< as in Capability
  std::size_t cards = 0;              ///< of this link layer and speed
  std::optional<unsigned> functions;  ///< of a card; absent where cards differ without a majority
  bool bluefield = false;             ///< most are
  bool enslaved = false;              ///< at least a third of them are
};

/// Elects link layer and speed by the sum of the cards' speeds (an unknown one counts as the
/// fastest that is known; ties: InfiniBand, then more cards), then the other traits by at least
/// twice as many cards of that class as any other.
Fabric elect_fabric(const std::vector<CardTraits>& cards);

/// Why a card is not of the fabric.
struct Outlier {
  Role role = Role::front_end;
  std::string reason;
  bool certain = true;  ///< false: it may still be compute where it alone is near a GPU
};

/// Absent: the card is of the fabric. A trait that is not known is no evidence.
std::optional<Outlier> find_outlier(const CardTraits& card, const Fabric& fabric);

/// Whether the main default route tells cards apart. It does not where it leaves through more
/// netdevs than there are cards without it (routers announce it on every rail), nor where every
/// card has it: nothing but it then speaks against them. The Ethernet card that is a virtual
/// machine's only one is still its front-end: clouds pass one in for the guest's own
/// traffic.
bool route_tells(const node::Node& node, const std::vector<CardTraits>& cards);

/// The cards that elect the fabric. Those with the main default route do so only where it tells
/// nothing; or with InfiniBand, where IP runs beside RDMA; or, with Ethernet on bare metal, where
/// all cards without it are Ethernet, too, and slower.
std::vector<CardTraits> electors(const node::Node& node, const std::vector<CardTraits>& cards);

}  // namespace railhead::affinity
