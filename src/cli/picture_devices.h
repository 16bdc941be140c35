// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/picture_boxes.h"
#include "inject/decide.h"
#include "report/diagram.h"

namespace railhead {

/// NICs that the picture shows as one: a NIC, or all virtual functions of a NIC that no GPU is
/// dealt and that have the same role.
struct DrawnNic {
  std::vector<std::size_t> nics;  ///< into Node::nics, at least one

  [[nodiscard]] bool is_pack() const { return nics.size() > 1; }
};

/// NICs in the node's order, virtual functions packed.
std::vector<DrawnNic> drawn_nics(const DecisionTable& table);

/// What the deal and the present state say of the picture's devices: GPUs first, then `nics`.
struct DrawnDevices {
  std::vector<DiagramDevice> devices;
  std::vector<DiagramLink> links;
  std::vector<Hanging> places;
  std::vector<std::string> marks;  ///< of each GPU, all different
};

DrawnDevices draw_devices(const DecisionTable& table, const std::vector<DrawnNic>& nics,
                          const Selection& selection);

}  // namespace railhead
