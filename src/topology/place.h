// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "node/node.h"
#include "topology/topology.h"

namespace railhead::topology {

/// All that a relation depends on: what is above a function. Ports and virtual functions of one
/// card share a place. Points into the Node.
struct Place {
  const std::string* root = nullptr;          ///< nullptr: unknown, SYS to everything
  std::span<const node::PciAddress> bridges;  ///< without the switch on a card that does not count
  std::optional<int> numa;                    ///< as sysfs says, a node without CPUs too
  std::optional<int> cpu_numa;                ///< the node with CPUs that stands for it
  std::optional<int> socket;                  ///< of that node
};

/// The place of a function; nullptr is a soft device.
Place place_of(const node::Node& node, const node::PciDevice* function);

bool same_place(const Place& a, const Place& b);

/// nullptr where the machine has no such NUMA node.
const node::NumaNode* find_numa(const node::Node& node, int id);

/// How many bridges two paths from the same root have in common.
std::size_t common_bridges(std::span<const node::PciAddress> a,
                           std::span<const node::PciAddress> b);

/// The relation of two functions at these places. Two different functions on one root bus are PHB.
/// NODE compares the nodes that sysfs names, as nvidia-smi does: a GPU whose own memory is a NUMA
/// node (Grace, POWER9) is SYS to every NIC. That its memory hangs on a socket counts within SYS.
Nearness nearness_of(const Place& a, const Place& b);

}  // namespace railhead::topology
