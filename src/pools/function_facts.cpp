// SPDX-License-Identifier: Apache-2.0
#include "pools/function_facts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "pools/notation.h"

namespace railhead {
namespace {

std::string gbps_text(double gbps) {
  auto text = std::to_string(gbps);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// As netlink calls it.
std::string link_type_text(LinkLayer layer) {
  return layer == LinkLayer::infiniband ? "infiniband" : "ether";
}

std::vector<std::string> port_facts(Fact fact, const Port& port) {
  const bool known_layer = port.link_layer != LinkLayer::unknown;
  std::vector<std::string> facts;
  if (fact == Fact::link_layer && known_layer) facts.emplace_back(to_string(port.link_layer));
  if (fact == Fact::link_type && known_layer) facts.push_back(link_type_text(port.link_layer));
  if (fact == Fact::port_state && port.state) facts.emplace_back(to_string(*port.state));
  // A link that is down shows some rate, too.
  if (fact == Fact::rate_gbps && port.state == PortState::active && port.rate_gbps) {
    facts.push_back(gbps_text(*port.rate_gbps));
  }
  if (fact == Fact::subnet) {
    for (const auto& gid : port.gids) facts.push_back(gid.value);
  }
  if (fact == Fact::pkey) {
    for (const auto pkey : port.pkeys) facts.push_back(pkey_text(partition_of(pkey)));
  }
  if (fact == Fact::first_pkey && port.link_layer == LinkLayer::infiniband && !port.pkeys.empty()) {
    facts.push_back(pkey_text(port.pkeys.front()));
  }
  return facts;
}

}  // namespace

FunctionFacts::FunctionFacts(const Node& node, const std::vector<NetFunction>& functions,
                             const std::vector<NicStanding>& standings)
    : node_(node),
      functions_(functions),
      standings_(standings) {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const auto& function = functions[i];
    if (function.pci && function.kind != FunctionKind::scalable) by_address_[*function.pci] = i;
  }
}

std::vector<std::string> FunctionFacts::told(Fact fact, const NetFunction& function) const {
  switch (fact) {
    case Fact::netdev: return function.netdevs;
    case Fact::kind: return {std::string(to_string(function.kind))};
    case Fact::pf_name: {
      const auto* parent = parent_of(function);
      return parent != nullptr ? parent->netdevs : std::vector<std::string>();
    }
    case Fact::root_device:
      if (!function.parent) return {};
      return {function.parent->str()};
    case Fact::numa_node:
      if (!function.numa_node) return {};
      return {std::to_string(*function.numa_node)};
    case Fact::auxiliary_type: {
      if (function.kind != FunctionKind::scalable) return {};
      const auto parts = split(function.id, '.');  // mlx5_core.sf.4
      return {std::string(parts.size() > 1 ? parts[parts.size() - 2] : parts.front())};
    }
    case Fact::vendor:
    case Fact::device:
    case Fact::driver:
    case Fact::acpi_index:
    case Fact::ddp_package:
    case Fact::vdpa_type:
    case Fact::pci_address: return told_by_pci(fact, function);
    default: return told_by_nic(fact, function);
  }
}

std::vector<std::string> FunctionFacts::told_by_pci(Fact fact, const NetFunction& function) const {
  if (!function.pci) return {};
  if (fact == Fact::pci_address) {
    if (function.kind == FunctionKind::scalable) return {};
    return {function.pci->str()};
  }
  const auto* device = node_.find_pci(*function.pci);
  if (device == nullptr) return {};
  if (fact == Fact::vendor) return {pci_id_text(device->vendor)};
  if (fact == Fact::device) return {pci_id_text(device->device)};
  if (fact == Fact::acpi_index) {
    if (!device->acpi_index) return {};
    return {std::to_string(*device->acpi_index)};
  }
  if (fact == Fact::ddp_package) {
    const auto* physical = device->physfn ? node_.find_pci(*device->physfn) : device;
    if (physical == nullptr || !physical->ddp_package) return {};
    return {*physical->ddp_package};
  }
  if (fact == Fact::vdpa_type) {
    const bool has_own = function.kind != FunctionKind::scalable && !device->vdpa.empty();
    if (!has_own || device->vdpa.front().type().empty()) return {};
    return {std::string(device->vdpa.front().type())};
  }
  if (!device->driver) return {};
  if (function.kind != FunctionKind::scalable) return {*device->driver};
  // The auxiliary bus names drivers after module and device: mlx5_core.sf.
  return {*device->driver, function.id.substr(0, function.id.rfind('.'))};
}

std::vector<std::string> FunctionFacts::told_by_nic(Fact fact, const NetFunction& function) const {
  std::vector<std::string> facts;
  const auto add = [&](std::string text) {
    if (std::find(facts.begin(), facts.end(), text) == facts.end()) {
      facts.push_back(std::move(text));
    }
  };
  for (const auto index : function.nics) {
    const Nic& nic = node_.nics[index];
    if (fact == Fact::rdma_name && nic.registered) add(nic.name);
    if (fact == Fact::role && index < standings_.size()) add(standings_[index].role);
    if (fact == Fact::guid) {
      if (nic.node_guid) add(guid_text(*nic.node_guid));
      if (nic.sys_image_guid) add(guid_text(*nic.sys_image_guid));
    }
    for (const auto& port : nic.ports) {
      for (auto& text : port_facts(fact, port)) add(std::move(text));
    }
  }
  if (facts.empty() && fact == Fact::link_type) {
    // A function that a driver for virtual machines holds: its class tells what it is.
    const auto* device = function.pci ? node_.find_pci(*function.pci) : nullptr;
    if (device != nullptr) add(device->class_code >> 8 == 0x0207 ? "infiniband" : "ether");
  }
  return facts;
}

const NetFunction* FunctionFacts::parent_of(const NetFunction& function) const {
  if (!function.parent) return nullptr;
  const auto at = by_address_.find(*function.parent);
  return at != by_address_.end() ? &functions_[at->second] : nullptr;
}

}  // namespace railhead
