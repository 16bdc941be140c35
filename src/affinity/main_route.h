// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "affinity/fabric.h"
#include "node/node.h"

namespace railhead::affinity {

/// Whether the main default route tells cards apart. It does not where it leaves through more
/// netdevs than there are cards without it (routers announce it on every rail), nor where every
/// card has it: nothing but it then speaks against them. The Ethernet card that is a virtual
/// machine's only one is its front-end all the same: clouds pass one in for the guest's own
/// traffic.
bool route_tells(const node::Node& node, const std::vector<CardTraits>& cards);

/// The cards that elect the fabric. Those with the main default route do so only where it tells
/// nothing; or with InfiniBand, where IP runs beside RDMA; or, with Ethernet on bare metal, where
/// all cards without it are Ethernet, too, and slower.
std::vector<CardTraits> electors(const node::Node& node, const std::vector<CardTraits>& cards);

}  // namespace railhead::affinity
