// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "container/request.h"

namespace railhead::inject {

/// What ZE_AFFINITY_MASK leaves of `count` GPUs, as positions in the order of their PCI addresses:
/// "0,2.1" is the first and, by one part of it, the third. All where it is not set. Absent where
/// the meaning of its numbers is not known. They count GPUs only under
/// ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE: with FLAT, the default of today's drivers and not of older
/// ones, they count parts of GPUs. And they count in the order of PCI addresses only under
/// ZE_ENABLE_PCI_ID_DEVICE_ORDER=1. Source: Level Zero specification, core programming guide,
/// "Affinity Mask" and "Device Hierarchy".
std::optional<std::vector<std::size_t>> level_zero_mask(const container::Request& request,
                                                        std::size_t count);

}  // namespace railhead::inject
