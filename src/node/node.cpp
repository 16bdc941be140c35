// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <algorithm>
#include <set>

#include "base/find.h"

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
  return find_sorted(pci, &PciDevice::address, address);
}

const Nic* Node::find_nic(std::string_view wanted) const {
  return find_by(nics, &Nic::name, wanted);
}

const Netdev* Node::find_netdev(std::string_view wanted) const {
  return find_by(netdevs, &Netdev::name, wanted);
}

const CharDevice* Node::find_function_device(std::string_view path) const {
  const auto* found = find_where(
      function_devices, [&](const FunctionDevice& one) { return one.device.path == path; });
  return found != nullptr ? &found->device : nullptr;
}

bool Node::carries_main_route(std::string_view name_of_netdev) const {
  std::set<std::string, std::less<>> reached{std::string(name_of_netdev)};
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& netdev : netdevs) {
      const bool above = std::ranges::any_of(
          netdev.lower, [&](const std::string& lower) { return reached.contains(lower); });
      if (above) grew = reached.insert(netdev.name).second || grew;
      if (netdev.master && reached.contains(netdev.name)) {
        grew = reached.insert(*netdev.master).second || grew;
      }
    }
  }
  return std::ranges::any_of(netdevs, [&](const Netdev& netdev) {
    return netdev.main_route && reached.contains(netdev.name);
  });
}

}  // namespace railhead::node
