// SPDX-License-Identifier: Apache-2.0
#include "proof/drivers.h"

#include <algorithm>

namespace railhead::proof {

namespace {

/// Whether it may have a PCI function that could not be found.
bool is_unread(const node::Node& node, std::string_view device) {
  const auto link = "/sys/class/infiniband/" + std::string(device);
  return std::any_of(node.problems.begin(), node.problems.end(), [&](const node::Problem& problem) {
    return problem.path == link || problem.path == link + "/device";
  });
}

}  // namespace

std::string_view hidden_by_driver(const node::Node& node, std::string_view device) {
  constexpr std::string_view kUnknown = "its driver may keep objects out of the lists";
  const auto nic = std::find_if(node.nics.begin(), node.nics.end(),
                                [&](const node::Nic& one) { return one.name == device; });
  if (nic == node.nics.end()) return kUnknown;
  if (!nic->pci && !nic->driver) return is_unread(node, device) ? kUnknown : "";
  const auto row = std::find_if(kDriverRows.begin(), kDriverRows.end(), [&](const DriverRow& one) {
    return nic->driver && one.driver == *nic->driver;
  });
  return row == kDriverRows.end() ? kUnknown : row->hides;
}

bool is_of_every_device(std::string_view kernel_name) {
  return kernel_name == "ib_core" ||
         std::any_of(kDriverRows.begin(), kDriverRows.end(),
                     [&](const DriverRow& row) { return row.module == kernel_name; });
}

}  // namespace railhead::proof
