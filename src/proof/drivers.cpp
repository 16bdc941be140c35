// SPDX-License-Identifier: Apache-2.0
#include "proof/drivers.h"

#include <algorithm>

#include "base/find.h"

namespace railhead::proof {

namespace {

/// Whether it may have a PCI function that could not be found.
bool is_unread(const node::Node& node, std::string_view device) {
  const auto link = "/sys/class/infiniband/" + std::string(device);
  return std::ranges::any_of(node.problems, [&](const node::Problem& problem) {
    return problem.path == link || problem.path == link + "/device";
  });
}

}  // namespace

std::string_view hidden_by_driver(const node::Node& node, std::string_view device) {
  constexpr std::string_view kUnknown = "its driver may keep objects out of the lists";
  const auto* nic = find_by(node.nics, &node::Nic::name, device);
  if (nic == nullptr) return kUnknown;
  if (!nic->pci && !nic->driver) return is_unread(node, device) ? kUnknown : "";
  const auto* row = find_by(kDriverRows, &DriverRow::driver, nic->driver);
  return row == nullptr ? kUnknown : row->hides;
}

bool is_of_every_device(std::string_view kernel_name) {
  return kernel_name == "ib_core" || std::ranges::any_of(kDriverRows, [&](const DriverRow& row) {
           return row.module == kernel_name;
         });
}

}  // namespace railhead::proof
