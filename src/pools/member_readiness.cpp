// SPDX-License-Identifier: Apache-2.0
#include "pools/member_readiness.h"

#include <algorithm>

#include "base/text.h"

namespace railhead::pools {
namespace {

bool has_link_layer(const node::Nic& nic, node::LinkLayer layer) {
  return std::ranges::any_of(nic.ports,
                             [&](const node::Port& port) { return port.link_layer == layer; });
}

/// An InfiniBand port without a partner at the other end of its cable is "Polling". (The physical
/// state of a RoCE port is made up from its netdev.)
bool has_no_link(const node::Port& port) {
  return port.link_layer == node::LinkLayer::infiniband && port.state == node::PortState::down &&
         port.phys_state && *port.phys_state != "LinkUp";
}

/// Another port of the same card: the same slot, another function.
bool is_sibling(const node::PciAddress& a, const node::PciAddress& b) {
  return a.domain == b.domain && a.bus == b.bus && a.device == b.device && a.function != b.function;
}

}  // namespace

MemberReadiness::MemberReadiness(const node::Node& node, const std::vector<NetFunction>& functions,
                                 const std::vector<NicStatus>& statuses)
    : node_(node),
      statuses_(statuses),
      by_address_(functions) {
  for (const auto& function : functions) {
    if (!function.parent) continue;
    const auto* parent = by_address_.find(*function.parent);
    if (parent == nullptr || parent->kind != FunctionKind::physical) continue;
    if (cables_.contains(parent)) continue;
    cables_.emplace(parent, trouble_of_cable(*parent));
  }
}

std::string MemberReadiness::trouble_of(const PoolSpec& spec, const Selector& selector,
                                        const NetFunction& function) const {
  const bool exclusive = spec.mode == PoolMode::exclusive;
  // A function without RDMA (for a netdev, vfio, vDPA) is well as long as it is there.
  if (exclusive && !selector.rdma) return "";
  std::vector<std::string> troubles;
  for (const auto nic : function.nics) {
    if (!selector.rdma && !node_.nics[nic].registered) continue;
    if (nic >= statuses_.size()) return "";
    if (spec.health == PoolHealth::device && statuses_[nic].by_ports) return "";
    auto trouble = exclusive ? trouble_when_idle(function, nic) : statuses_[nic].trouble;
    if (trouble.empty()) return "";
    troubles.push_back(std::move(trouble));
  }
  return join(troubles, "; ");
}

std::string MemberReadiness::trouble_when_idle(const NetFunction& function, std::size_t nic) const {
  const auto& status = statuses_[nic];
  if (node_.nics[nic].elsewhere) return "";  // the pod that holds it has the link
  if (status.trouble.empty() || !status.by_ports) return status.trouble;
  if (function.kind == FunctionKind::virtual_ || function.kind == FunctionKind::scalable) {
    const auto* parent = function.parent ? by_address_.find(*function.parent) : nullptr;
    const auto cable = cables_.find(parent);
    return cable == cables_.end() ? "" : cable->second;
  }
  return is_raised_by_the_pod(node_.nics[nic]) ? "" : status.trouble;
}

/// A physical function that is set down says nothing of its cable.
std::string MemberReadiness::trouble_of_cable(const NetFunction& physical) const {
  for (const auto index : physical.nics) {
    const node::Nic& nic = node_.nics[index];
    if (nic.ports.empty() || !std::ranges::all_of(nic.ports, has_no_link)) continue;
    return "its PF " + nic.name + " has no link (" + *nic.ports.front().phys_state + ")";
  }
  bool any_carrier = false;
  std::string without;
  for (const auto& name : physical.netdevs) {
    const auto* netdev = node_.find_netdev(name);
    any_carrier = any_carrier || (netdev != nullptr && netdev->carrier == true);
    if (has_no_carrier(name)) without = name;
  }
  if (any_carrier || without.empty()) return "";
  return without + " of its PF " + physical.id + " is up and has no carrier";
}

/// Ethernet whose netdevs are all set down, or in some pod.
bool MemberReadiness::is_raised_by_the_pod(const node::Nic& nic) const {
  if (!has_link_layer(nic, node::LinkLayer::ethernet) ||
      has_link_layer(nic, node::LinkLayer::infiniband)) {
    return false;
  }
  return std::ranges::all_of(nic.netdevs, [&](const std::string& name) {
    const auto* netdev = node_.find_netdev(name);
    return netdev == nullptr || netdev->elsewhere || netdev->up == false;
  });
}

/// Where both ports of a card are in one bond, the VFs of either go on through the other.
bool MemberReadiness::has_no_carrier(const std::string& name) const {
  const auto* netdev = node_.find_netdev(name);
  if (netdev == nullptr || netdev->up != true || netdev->carrier != false) return false;
  if (!netdev->master || !netdev->pci) return true;
  return std::ranges::none_of(node_.netdevs, [&](const node::Netdev& other) {
    return other.master == netdev->master && other.carrier == true && other.pci &&
           is_sibling(*other.pci, *netdev->pci);
  });
}

}  // namespace railhead::pools
