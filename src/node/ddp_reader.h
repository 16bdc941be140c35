// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "node/pci.h"
#include "node/reader.h"

namespace railhead {

/// Fills PciDevice::ddp_package: one question for each physical function that one of Intel's
/// drivers with Dynamic Device Personalization holds (ice, i40e), none for anything else.
void read_ddp_packages(Reader& reader, std::vector<PciDevice>& pci);

}  // namespace railhead
