// SPDX-License-Identifier: Apache-2.0
#include "setup/functions.h"

#include <net/if.h>

#include <algorithm>

#include "base/contains.h"
#include "base/text.h"
#include "node/pci.h"
#include "setup/rdma_users.h"

namespace railhead::setup {
namespace {

std::string attribute_of(host::Host& host, const std::string& address, const std::string& name) {
  return line_in(host, function_path(address, name));
}

std::optional<unsigned> number_of(const std::string& text) {
  const auto number = parse_number(text);
  return number ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

/// "0x15b3" is "15b3".
std::string id_of(const std::string& text) {
  return to_lower(text.starts_with("0x") ? text.substr(2) : text);
}

std::string first_in(host::Host& host, const std::string& folder) {
  const auto names = names_in(host, folder, "");
  return names.empty() ? "" : names.front();
}

std::vector<std::string> virtual_functions(host::Host& host, const std::string& address) {
  std::vector<std::string> found;
  for (unsigned number = 0;; ++number) {
    auto target = link_name(host, function_path(address, "virtfn" + std::to_string(number)));
    if (target.empty()) return found;
    found.push_back(std::move(target));
  }
}

bool is_selected(const NetworkFunction& function, const VfPolicy& policy) {
  if (!policy.vendor.empty() && policy.vendor != function.vendor) return false;
  if (!policy.device.empty() && policy.device != function.device) return false;
  if (!policy.root_devices.empty() && !contains(policy.root_devices, function.address))
    return false;
  return policy.pf_names.empty() ||
         std::ranges::any_of(policy.pf_names, [&](const std::string& name) {
           const auto part = part_of(name);
           return part && part->netdev == function.netdev;
         });
}

}  // namespace

std::string function_path(const std::string& address, const std::string& attribute) {
  return "/sys/bus/pci/devices/" + address + "/" + attribute;
}

std::optional<NetworkFunction> read_function(host::Host& host, const std::string& address) {
  NetworkFunction function;
  function.address = address;
  function.vendor = id_of(attribute_of(host, address, "vendor"));
  if (function.vendor.empty()) return std::nullopt;
  function.device = id_of(attribute_of(host, address, "device"));
  function.driver = link_name(host, function_path(address, "driver"));
  function.netdev = first_in(host, function_path(address, "net"));
  function.rdma = first_in(host, function_path(address, "infiniband"));
  function.node_guid = attribute_of(host, address, "infiniband/" + function.rdma + "/node_guid");
  function.link_layer =
      attribute_of(host, address, "infiniband/" + function.rdma + "/ports/1/link_layer");
  function.mac = attribute_of(host, address, "net/" + function.netdev + "/address");
  function.mtu = number_of(attribute_of(host, address, "net/" + function.netdev + "/mtu"));
  function.total_vfs = number_of(attribute_of(host, address, "sriov_totalvfs"));
  function.virtual_functions = virtual_functions(host, address);
  function.has_iommu = !link_name(host, function_path(address, "iommu_group")).empty();
  const auto flags = parse_number(attribute_of(host, address, "net/" + function.netdev + "/flags"));
  function.is_up = flags && (*flags & IFF_UP) != 0;
  function.is_enabled = number_of(attribute_of(host, address, "enable")).value_or(0) != 0;
  return function;
}

std::string user_of(const NetworkFunction& function) {
  const auto& driver = function.driver;
  if (node::is_vfio_driver(driver)) return function.address + " is held by " + driver;
  if (!driver.empty() && function.netdev.empty())
    return function.address + " has no netdev here: a pod may have it";
  return "";
}

std::string users_of(host::Host& host, const NetworkFunction& physical,
                     const std::vector<std::string>& ours) {
  std::vector<std::string> users;
  for (const auto& address : physical.virtual_functions) {
    const auto function = read_function(host, address);
    const bool is_idle = function && contains(ours, address) && !function->is_enabled;
    auto user = function && !is_idle ? user_of(*function) : "";
    if (function && user.empty()) user = rdma_user(host, function->rdma);
    if (!user.empty()) users.push_back(std::move(user));
  }
  return join(users, "; ");
}

std::string users_of_all(host::Host& host, const std::string& address) {
  const auto physical = read_function(host, address);
  if (!physical) return "";
  // With a bond of two ports a function has more than one.
  for (const auto& rdma : names_in(host, function_path(address, "infiniband"), "")) {
    auto user = rdma_user(host, rdma);
    if (!user.empty()) return user;
  }
  return users_of(host, *physical);
}

std::string sharer_of(host::Host& host, const NetworkFunction& function,
                      const std::vector<std::string>& siblings) {
  for (const auto& other :
       names_in(host, function_path(function.address, "iommu_group/devices"), "")) {
    if (other == function.address || contains(siblings, other)) continue;
    const auto driver = link_name(host, function_path(other, "driver"));
    // Drivers that leave DMA to whom the group is given (driver_managed_dma in Linux
    // drivers/pci/pcie/portdrv.c, drivers/pci/pci-stub.c, drivers/vfio/pci).
    const bool leaves_dma =
        node::is_vfio_driver(driver) || driver == "pcieport" || driver == "pci-stub";
    if (driver.empty() || leaves_dma) continue;
    return function.address + " shares its IOMMU group with " + other + " (" + driver +
           "), and so no virtual machine can open it: a switch above it has no ACS";
  }
  return "";
}

std::optional<std::uint64_t> vf_guid(const std::string& physical, unsigned number) {
  std::string digits = physical;
  std::erase(digits, ':');
  const auto guid = parse_number("0x" + digits);
  if (!guid || digits.size() != 16 || *guid == 0) return std::nullopt;
  constexpr std::uint64_t kMiddle = 0xffff000000;
  constexpr std::uint64_t kLocal = std::uint64_t{2} << 56;  // the bit of addresses that nobody sold
  return (*guid & ~kMiddle) | kLocal | ((std::uint64_t{0x8000} | number) << 24);
}

std::vector<NetworkFunction> select_functions(host::Host& host, const VfPolicy& policy) {
  std::vector<NetworkFunction> selected;
  for (const auto& address : names_in(host, "/sys/bus/pci/devices", "")) {
    // PCI class 02 is a network controller.
    if (!attribute_of(host, address, "class").starts_with("0x02")) continue;
    if (!link_name(host, function_path(address, "physfn")).empty()) continue;
    const auto function = read_function(host, address);
    if (function && is_selected(*function, policy)) selected.push_back(*function);
  }
  return selected;
}

}  // namespace railhead::setup
