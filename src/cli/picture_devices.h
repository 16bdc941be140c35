// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/picture_boxes.h"
#include "cli/picture_nics.h"
#include "inject/decide.h"
#include "report/diagram.h"

namespace railhead::cli {

/// What the deal and the present state say of the picture's devices: GPUs first, then `nics`.
struct DrawnDevices {
  std::vector<report::DiagramDevice> devices;
  std::vector<report::DiagramLink> links;
  std::vector<Hanging> places;
  std::vector<std::string> marks;  ///< of each GPU, all different
};

DrawnDevices draw_devices(const inject::DecisionTable& table, const std::vector<DrawnNic>& nics,
                          const affinity::Selection& selection);

}  // namespace railhead::cli
