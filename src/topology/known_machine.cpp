// SPDX-License-Identifier: Apache-2.0
#include "topology/known_machine.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "topology/known_machines_text.h"

namespace railhead::topology {
namespace {

/// Two buses of kInventedDomain a switch: that of its upstream port, that of its downstream ports.
constexpr unsigned kBusesPerSwitch = 2;

bool fits(const std::string& pattern, const std::optional<std::string>& text) {
  return pattern.empty() || (text && glob_match(pattern, *text));
}

bool fits(const KnownMachine& machine, const node::Dmi& dmi) {
  return fits(machine.sys_vendor, dmi.sys_vendor) && fits(machine.product_name, dmi.product_name) &&
         fits(machine.asset_tag, dmi.chassis_asset_tag);
}

bool has_id_of(const KnownMachine& machine, const node::Node& node, const node::Gpu& gpu) {
  const node::PciDevice* function = node.find_pci(gpu.pci);
  if (function == nullptr) return false;
  const std::string id = to_hex(function->vendor, 4) + ":" + to_hex(function->device, 4);
  return contains(machine.gpu_ids, id);
}

/// Every GPU stands where the machine has one, and no NIC does.
bool stands_in_places(const KnownMachine& machine, const node::Node& node) {
  std::set<node::PciAddress> places;
  for (const auto& one : machine.switches) places.insert(one.gpus.begin(), one.gpus.end());
  return std::ranges::all_of(node.gpus,
                             [&](const node::Gpu& gpu) { return places.contains(gpu.pci); }) &&
         std::ranges::none_of(
             node.nics, [&](const node::Nic& nic) { return nic.pci && places.contains(*nic.pci); });
}

/// Fewer GPUs than a whole machine has are another size, unless it is sold whole alone.
bool has_right_count(const KnownMachine& machine, std::size_t gpus) {
  const bool whole_alone =
      !machine.sizes.empty() && std::ranges::all_of(machine.sizes, [&](const KnownSize& size) {
        return size.gpus == machine.gpus;
      });
  return whole_alone ? gpus <= machine.gpus : gpus == machine.gpus;
}

bool is(const KnownMachine& machine, const node::Node& node) {
  if (node.gpus.empty() || !fits(machine, node.dmi)) return false;
  if (!std::ranges::all_of(node.gpus,
                           [&](const node::Gpu& gpu) { return has_id_of(machine, node, gpu); })) {
    return false;
  }
  return machine.tree_is_real ? has_right_count(machine, node.gpus.size())
                              : stands_in_places(machine, node);
}

/// A switch with one thing below it would say nothing but its NUMA node.
bool is_switch(const KnownSwitch& one) {
  return one.gpus.size() + one.nics.size() > 1;
}

Position position_below(const KnownSwitch& one, std::uint8_t number, std::uint8_t port,
                        const node::PciAddress& function) {
  const auto bus = static_cast<std::uint8_t>(kBusesPerSwitch * number);
  const node::PciAddress upstream{kInventedDomain, bus, 0, 0};
  const node::PciAddress downstream{kInventedDomain, static_cast<std::uint8_t>(bus + 1), port, 0};
  return {function, "pci" + upstream.str(), {upstream, downstream}, one.numa_node};
}

/// As in a topology file, functions of one bus and NUMA node share a host bridge.
Position position_alone(const KnownSwitch& one, const node::PciAddress& function) {
  const std::string address = function.str();
  return {function,
          "pci" + address.substr(0, address.rfind(':')) + " of NUMA node " +
              std::to_string(one.numa_node),
          {},
          one.numa_node};
}

}  // namespace

const std::vector<KnownMachine>& known_machines() {
  static const std::vector<KnownMachine> table =
      parse_known_machines(known_machines_text(), "known_machines.yaml")
          .value_or(std::vector<KnownMachine>{});
  return table;
}

const KnownMachine* find_known_machine(const node::Node& node,
                                       const std::vector<KnownMachine>& table) {
  return find_where(table, [&](const KnownMachine& machine) { return is(machine, node); });
}

std::vector<node::PciAddress> missing_functions(const KnownMachine& machine, const node::Node& node,
                                                std::vector<node::PciAddress> KnownSwitch::*of) {
  std::vector<node::PciAddress> missing;
  for (const auto& one : machine.switches) {
    std::ranges::copy_if(one.*of, std::back_inserter(missing),
                         [&](const auto& address) { return node.find_pci(address) == nullptr; });
  }
  return missing;
}

bool KnownMachine::may_have(std::size_t count) const {
  return count == gpus ||
         std::ranges::any_of(sizes, [&](const KnownSize& size) { return size.gpus == count; });
}

SizeInTable find_size(std::string_view name, const std::vector<KnownMachine>& table) {
  for (const auto& machine : table) {
    for (const auto& size : machine.sizes) {
      if (size.name == name) return {&machine, &size};
    }
  }
  return {};
}

Layout layout_of(const KnownMachine& machine) {
  Layout layout;
  std::uint8_t number = 0;
  for (const auto& one : machine.switches) {
    std::uint8_t port = 0;
    for (const auto* functions : {&one.gpus, &one.nics}) {
      for (const auto& function : *functions) {
        layout.positions.push_back(is_switch(one) ? position_below(one, number, port++, function)
                                                  : position_alone(one, function));
      }
    }
    ++number;
  }
  std::ranges::sort(layout.positions, {}, &Position::function);
  return layout;
}

}  // namespace railhead::topology
