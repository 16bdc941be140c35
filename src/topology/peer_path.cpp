// SPDX-License-Identifier: Apache-2.0
#include "topology/peer_path.h"

#include <algorithm>

#include "node/pci_reader.h"
#include "topology/topology.h"

namespace railhead::topology {
namespace {

/// The second function of a ConnectX-8, for GPU memory.
bool is_data_direct(const node::PciDevice& device) {
  constexpr std::uint16_t kDevice = 0x2100;
  return device.vendor == node::kVendorMellanox && device.device == kDevice;
}

}  // namespace

std::vector<node::PciAddress> bridges_between(const node::PciDevice& a, const node::PciDevice& b) {
  std::vector<node::PciAddress> between;
  const auto common = common_bridge(a, b);
  if (!common) return between;
  for (const auto* bridges : {&a.bridges, &b.bridges}) {
    const auto at = std::find(bridges->begin(), bridges->end(), *common);
    between.insert(between.end(), at + 1, bridges->end());
  }
  return between;
}

std::string_view why_acs_stays(const node::Node& node) {
  if (node.hypervisor) return "in a virtual machine the host sets it";
  if (node.cpu.arch == "arm64" || std::any_of(node.pci.begin(), node.pci.end(), is_data_direct))
    return "Grace and data-direct functions need it as the firmware sets it";
  return "";
}

}  // namespace railhead::topology
