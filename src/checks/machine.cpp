// SPDX-License-Identifier: Apache-2.0
#include "checks/machine.h"

#include <algorithm>

#include "base/find.h"

namespace railhead::checks {

Machine::Machine(node::Node as_read, system::System beyond, Wishes wanted, MoreFacts more)
    : wishes(std::move(wanted)),
      node(std::move(as_read)),
      arrangement(railhead::topology::arrange(node, wishes.topology)),
      topology(railhead::topology::make_topology(arrangement)),
      deal(affinity::deal(arrangement.node, topology, wishes.rules)),
      expected(affinity::expected_of(node, wishes.rules.expect)),
      system{std::move(beyond)},
      containers{std::move(more.containers)},
      uses{std::move(more.uses)},
      earlier{std::move(more.earlier)},
      loopbacks{std::move(more.loopbacks)},
      history{std::move(more.history)} {}

std::size_t Machine::compute_nics() const {
  return static_cast<std::size_t>(
      std::ranges::count(deal.roles, affinity::Role::compute, &affinity::RoleDecision::role));
}

bool Machine::carries_traffic(std::size_t nic) const {
  const auto role = deal.roles[nic].role;
  return (role == affinity::Role::compute || role == affinity::Role::storage) &&
         expected[nic].unused == nullptr;
}

std::vector<std::size_t> Machine::traffic_nics() const {
  std::vector<std::size_t> nics;
  for (std::size_t n = 0; n < node.nics.size(); ++n) {
    if (carries_traffic(n)) nics.push_back(n);
  }
  return nics;
}

bool Machine::has_layer(std::size_t nic, node::LinkLayer layer) const {
  const auto& one = node.nics[nic];
  return one.registered && !one.elsewhere &&
         std::ranges::any_of(one.ports,
                             [&](const node::Port& port) { return port.link_layer == layer; });
}

bool Machine::has_layer(node::LinkLayer layer) const {
  for (std::size_t n = 0; n < node.nics.size(); ++n) {
    if (has_layer(n, layer)) return true;
  }
  return false;
}

const node::PciDevice* Machine::function(std::size_t nic) const {
  const auto& pci = node.nics[nic].pci;
  return pci ? node.find_pci(*pci) : nullptr;
}

bool Machine::same_model(std::size_t a, std::size_t b) const {
  const auto* one = function(a);
  const auto* other = function(b);
  return one != nullptr && other != nullptr && one->vendor == other->vendor &&
         one->device == other->device;
}

const node::Problem* Machine::unreadable(std::string_view path) const {
  return find_where(node.problems, [&](const node::Problem& problem) {
    return problem.kind == node::Problem::Kind::unreadable && problem.path == path;
  });
}

const node::Problem* Machine::problem_with(std::string_view part) const {
  return find_where(node.problems,
                    [&](const auto& one) { return one.path.find(part) != std::string::npos; });
}

const node::Problem* Machine::problem_below(std::string_view class_path) const {
  constexpr std::string_view kClass = "/sys/class";
  if (class_path.starts_with(kClass)) class_path.remove_prefix(kClass.size());
  const auto folder = std::string(class_path) + "/";
  return find_where(node.problems, [&](const node::Problem& one) {
    return one.path.ends_with(class_path) || one.path.find(folder) != std::string::npos;
  });
}

std::optional<bool> Machine::has_module(std::string_view name) const {
  return system.has_module(name);
}

std::string port_name(const node::Nic& nic, const node::Port& port) {
  return nic.name + "/" + std::to_string(port.number);
}

std::string port_path(const node::Nic& nic, const node::Port& port, std::string_view file) {
  return (node::port_folder(nic, port) + "/").append(file);
}

std::string pci_path(const node::PciAddress& address, std::string_view file) {
  return "/sys/bus/pci/devices/" + address.str() + "/" + std::string(file);
}

Evidence driver_evidence(const node::PciAddress& address,
                         const std::optional<std::string>& driver) {
  return {pci_path(address, driver ? "uevent" : "driver"), driver.value_or("")};
}

std::string netdev_path(std::string_view netdev, std::string_view file) {
  return ("/sys/class/net/" + std::string(netdev) + "/").append(file);
}

}  // namespace railhead::checks
