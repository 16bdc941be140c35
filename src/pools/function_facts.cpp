// SPDX-License-Identifier: Apache-2.0
#include "pools/function_facts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "pools/notation.h"

namespace railhead::pools {
namespace {

using Test = FunctionFacts::Test;

std::string gbps_text(double gbps) {
  auto text = std::to_string(gbps);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// As netlink calls it.
std::string_view link_type_text(node::LinkLayer layer) {
  return layer == node::LinkLayer::infiniband ? "infiniband" : "ether";
}

bool any_name(const std::vector<std::string>& names, const Test& test) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return test(name); });
}

bool any_of_port(Fact fact, const node::Port& port, const Test& test) {
  const bool known_layer = port.link_layer != node::LinkLayer::unknown;
  switch (fact) {
    case Fact::link_layer: return known_layer && test(to_string(port.link_layer));
    case Fact::link_type: return known_layer && test(link_type_text(port.link_layer));
    case Fact::port_state: return port.state && test(to_string(*port.state));
    case Fact::rate_gbps:
      // A link that is down shows some rate, too.
      return port.state == node::PortState::active && port.rate_gbps &&
             test(gbps_text(*port.rate_gbps));
    case Fact::subnet:
      return std::any_of(port.gids.begin(), port.gids.end(),
                         [&](const node::Gid& gid) { return test(gid.value); });
    case Fact::pkey:
      return std::any_of(port.pkeys.begin(), port.pkeys.end(),
                         [&](std::uint16_t pkey) { return test(pkey_text(partition_of(pkey))); });
    case Fact::first_pkey:
      return port.link_layer == node::LinkLayer::infiniband && !port.pkeys.empty() &&
             test(pkey_text(port.pkeys.front()));
    default: return false;
  }
}

/// "sf" of mlx5_core.sf.4
std::string_view auxiliary_type(std::string_view id) {
  const auto parts = split(id, '.');
  return parts.size() > 1 ? parts[parts.size() - 2] : parts.front();
}

}  // namespace

FunctionFacts::FunctionFacts(const node::Node& node, const std::vector<NetFunction>& functions,
                             const std::vector<NicStanding>& standings)
    : node_(node),
      by_address_(functions),
      standings_(standings) {}

std::vector<std::string> FunctionFacts::texts(Fact fact, const NetFunction& function) const {
  std::vector<std::string> texts;
  const auto add = [&](std::string_view text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.emplace_back(text);
    return false;
  };
  static_cast<void>(any(fact, function, add));  // none holds, so all are asked
  return texts;
}

bool FunctionFacts::any(Fact fact, const NetFunction& function, const Test& test) const {
  switch (fact) {
    case Fact::netdev: return any_name(function.netdevs, test);
    case Fact::kind: return test(to_string(function.kind));
    case Fact::pf_name: {
      const auto* parent = function.parent ? by_address_.find(*function.parent) : nullptr;
      return parent != nullptr && any_name(parent->netdevs, test);
    }
    case Fact::root_device: return function.parent && test(function.parent->str());
    case Fact::numa_node: return function.numa_node && test(std::to_string(*function.numa_node));
    case Fact::auxiliary_type:
      return function.kind == FunctionKind::scalable && test(auxiliary_type(function.id));
    case Fact::vendor:
    case Fact::device:
    case Fact::driver:
    case Fact::acpi_index:
    case Fact::ddp_package:
    case Fact::vdpa_type:
    case Fact::pci_address: return any_of_pci(fact, function, test);
    default: return any_of_nics(fact, function, test);
  }
}

bool FunctionFacts::any_of_pci(Fact fact, const NetFunction& function, const Test& test) const {
  if (!function.pci) return false;
  const bool own = function.kind != FunctionKind::scalable;
  if (fact == Fact::pci_address) return own && test(function.pci->str());
  const auto* device = node_.find_pci(*function.pci);
  if (device == nullptr) return false;
  switch (fact) {
    case Fact::vendor: return test(pci_id_text(device->vendor));
    case Fact::device: return test(pci_id_text(device->device));
    case Fact::acpi_index: return device->acpi_index && test(std::to_string(*device->acpi_index));
    case Fact::ddp_package: {
      const auto* physical = device->physfn ? node_.find_pci(*device->physfn) : device;
      return physical != nullptr && physical->ddp_package && test(*physical->ddp_package);
    }
    case Fact::vdpa_type: {
      if (!own || device->vdpa.empty()) return false;
      const auto type = device->vdpa.front().type();
      return !type.empty() && test(type);
    }
    default: break;
  }
  if (!device->driver) return false;
  if (test(*device->driver)) return true;
  // The auxiliary bus names drivers after module and device: mlx5_core.sf.
  return !own && test(function.id.substr(0, function.id.rfind('.')));
}

bool FunctionFacts::any_of_nics(Fact fact, const NetFunction& function, const Test& test) const {
  bool known = false;
  for (const auto index : function.nics) {
    const node::Nic& nic = node_.nics[index];
    if (fact == Fact::rdma_name && nic.registered && test(nic.name)) return true;
    if (fact == Fact::role && index < standings_.size() && test(standings_[index].role)) {
      return true;
    }
    if (fact == Fact::guid) {
      for (const auto* guid : {&nic.node_guid, &nic.sys_image_guid}) {
        if (*guid && test(guid_text(**guid))) return true;
      }
    }
    for (const auto& port : nic.ports) {
      known = known || port.link_layer != node::LinkLayer::unknown;
      if (any_of_port(fact, port, test)) return true;
    }
  }
  if (known || fact != Fact::link_type) return false;
  // A function that a driver for virtual machines holds: its class tells what it is.
  const auto* device = function.pci ? node_.find_pci(*function.pci) : nullptr;
  return device != nullptr && test(device->class_code >> 8 == 0x0207 ? "infiniband" : "ether");
}

}  // namespace railhead::pools
