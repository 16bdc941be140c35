// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <algorithm>
#include <set>

namespace railhead::node {

std::string_view to_string(PortState state) {
  switch (state) {
    case PortState::nop: return "NOP";
    case PortState::down: return "DOWN";
    case PortState::init: return "INIT";
    case PortState::armed: return "ARMED";
    case PortState::active: return "ACTIVE";
    case PortState::active_defer: return "ACTIVE_DEFER";
  }
  return "UNKNOWN";
}

std::string_view to_string(LinkLayer layer) {
  switch (layer) {
    case LinkLayer::infiniband: return "InfiniBand";
    case LinkLayer::ethernet: return "Ethernet";
    case LinkLayer::unknown: break;
  }
  return "Unknown";
}

std::string port_folder(const Nic& nic, const Port& port) {
  return "/sys/class/infiniband/" + nic.name + "/ports/" + std::to_string(port.number);
}

const PciDevice* Node::find_pci(const PciAddress& address) const {
  const auto at = std::lower_bound(
      pci.begin(), pci.end(), address,
      [](const PciDevice& device, const PciAddress& wanted) { return device.address < wanted; });
  return at != pci.end() && at->address == address ? &*at : nullptr;
}

const Nic* Node::find_nic(std::string_view wanted) const {
  const auto at =
      std::find_if(nics.begin(), nics.end(), [&](const Nic& nic) { return nic.name == wanted; });
  return at != nics.end() ? &*at : nullptr;
}

const Netdev* Node::find_netdev(std::string_view wanted) const {
  const auto at = std::find_if(netdevs.begin(), netdevs.end(),
                               [&](const Netdev& netdev) { return netdev.name == wanted; });
  return at != netdevs.end() ? &*at : nullptr;
}

const CharDevice* Node::find_function_device(std::string_view path) const {
  const auto at = std::find_if(function_devices.begin(), function_devices.end(),
                               [&](const FunctionDevice& one) { return one.device.path == path; });
  return at != function_devices.end() ? &at->device : nullptr;
}

bool Node::carries_main_route(std::string_view name_of_netdev) const {
  std::set<std::string, std::less<>> reached{std::string(name_of_netdev)};
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& netdev : netdevs) {
      const bool above =
          std::any_of(netdev.lower.begin(), netdev.lower.end(),
                      [&](const std::string& lower) { return reached.contains(lower); });
      if (above) grew = reached.insert(netdev.name).second || grew;
      if (netdev.master && reached.contains(netdev.name)) {
        grew = reached.insert(*netdev.master).second || grew;
      }
    }
  }
  return std::any_of(netdevs.begin(), netdevs.end(), [&](const Netdev& netdev) {
    return netdev.main_route && reached.contains(netdev.name);
  });
}

}  // namespace railhead::node
