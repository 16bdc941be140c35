// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "node/pci.h"
#include "node/reader.h"

namespace railhead::node {

/// The vDPA devices that PCI functions have made, by function and then by name. Those of scalable
/// functions, and those that software alone makes, are in none. Where the kernel has no such bus,
/// there are none.
std::map<PciAddress, std::vector<VdpaDevice>> read_vdpa(Reader& reader);

}  // namespace railhead::node
