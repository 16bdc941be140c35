// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "node/pci_reader.h"
#include "system/gather.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

/// Without the serial number and what no check looks at.
std::string kept_config(std::string_view content) {
  return node::blanked_pci_config(content).value_or("?");
}

void read_function(const Gather& gather, const node::PciAddress& address) {
  if (gather.into.pci_config.contains(address)) return;
  const auto folder = "/sys/bus/pci/devices/" + address.str();
  const auto path = folder + "/config";
  const auto bytes = fact_of(path, gather.host.read_keeping(path, kept_config));
  Fact<node::PciConfig> fact{path, {}, bytes.error};
  if (bytes.value) {
    auto parsed = node::parse_pci_config(*bytes.value);
    if (parsed) {
      fact.value = *parsed;
    } else {
      fact.error = "malformed: " + parsed.error().message;
    }
  }
  gather.into.pci_config.emplace(address, std::move(fact));
  for (const auto* counter : {"aer_dev_fatal", "aer_dev_nonfatal"}) {
    gather.text((folder + "/").append(counter), kept_error_total);
  }
}

}  // namespace

void read_pci_config(const Gather& gather) {
  std::set<node::PciAddress> functions;
  for (const auto& nic : gather.node.nics) {
    if (nic.pci) functions.insert(*nic.pci);
  }
  for (const auto& gpu : gather.node.gpus) functions.insert(gpu.pci);
  for (const auto& device : gather.node.pci) {
    // A GPU that vfio holds is no Gpu of the node.
    const bool is_gpu = node::gpu_row_of(device) != nullptr;
    if (is_gpu || device.is_data_direct()) functions.insert(device.address);
  }
  for (const auto& address : std::set(functions)) {
    const auto* device = gather.node.find_pci(address);
    if (device == nullptr || device->is_vf()) continue;
    functions.insert(device->bridges.begin(), device->bridges.end());
  }
  for (const auto& address : functions) {
    const auto* device = gather.node.find_pci(address);
    if (device == nullptr || !device->is_vf()) read_function(gather, address);
  }
}

}  // namespace railhead::system
