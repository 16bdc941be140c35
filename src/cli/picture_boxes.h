// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "inject/decide.h"
#include "report/diagram.h"

namespace railhead::cli {

/// Where a device of the picture hangs.
struct Hanging {
  std::size_t device = 0;                     ///< into Diagram::devices
  const node::PciDevice* function = nullptr;  ///< nullptr: no PCI function
  std::optional<node::PciAddress> card;       ///< address of function 0 of its card
};

/// The card that a function is of: virtual functions count as their physical function's.
node::PciAddress card_of(const node::PciDevice& function);

/// Boxes for sockets, NUMA nodes, host bridges and switches, as far as they hold devices. Switches
/// one below the other with nothing beside them are one box with a title each, and so are a socket
/// with one NUMA node and a host bridge with one switch. A GPU card's own switch is left out where
/// it does not count (topology/place.h).
std::vector<report::DiagramBox> boxes_of(const inject::DecisionTable& table,
                                         const std::vector<Hanging>& devices);

}  // namespace railhead::cli
