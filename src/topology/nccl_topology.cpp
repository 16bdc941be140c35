// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_topology.h"

#include <algorithm>

#include "node/pci_reader.h"

namespace railhead::topology {

bool NcclPci::is_switch() const {
  return !below.empty() || (class_code && *class_code >> 8 == 0x0604);
}

bool NcclPci::is_gpu() const {
  if (gpu) return true;
  if (!class_code || !below.empty() || !nets.empty() || !node::is_gpu_class(*class_code))
    return false;
  if (!vendor) return true;
  node::PciDevice function;
  function.address = address;
  function.class_code = *class_code;
  function.vendor = *vendor;
  return node::gpu_row_of(function) != nullptr;
}

bool NcclPci::is_nic() const {
  if (gpu) return false;
  if (nets.empty()) return class_code && node::is_network_class(*class_code) && below.empty();
  const bool infiniband = class_code && *class_code >> 8 == 0x0207;
  return infiniband ||
         std::ranges::any_of(nets, [](const NcclNet& net) { return !net.is_socket(); });
}

}  // namespace railhead::topology
