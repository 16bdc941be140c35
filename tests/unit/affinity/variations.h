// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "affinity/affinity.h"

namespace railhead::test {

inline void take_down(node::Nic& nic) {
  for (auto& port : nic.ports) {
    port.state = node::PortState::down;
    port.rate_gbps = 10;
    port.rate_text = "10 Gb/sec (4X SDR)";
  }
}

/// What falls off the bus together: the devices of a card and its virtual functions.
inline std::set<std::size_t> falls_with(const node::Node& node,
                                        const std::vector<std::size_t>& card) {
  std::set<std::size_t> gone(card.begin(), card.end());
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    const node::PciDevice* function = node.nics[i].pci ? node.find_pci(*node.nics[i].pci) : nullptr;
    if (function == nullptr || !function->physfn) continue;
    node::PciAddress parent = *function->physfn;
    parent.function = node.nics[card.front()].pci.value_or(node::PciAddress{}).function;
    if (parent == node.nics[card.front()].pci) gone.insert(i);
  }
  return gone;
}

/// The machine as if a card had fallen off the bus.
inline node::Node without_card(node::Node node, const std::vector<std::size_t>& card) {
  const auto gone = falls_with(node, card);
  for (auto at = gone.rbegin(); at != gone.rend(); ++at) {
    const auto address = node.nics[*at].pci;
    node.nics.erase(node.nics.begin() + static_cast<std::ptrdiff_t>(*at));
    std::erase_if(node.pci,
                  [&](const node::PciDevice& device) { return device.address == address; });
  }
  return node;
}

/// Roles as they are, in the operator's words: for what is said of the deal with given roles.
inline std::vector<affinity::RoleOverride> fixed_roles(const node::Node& node) {
  const auto roles = affinity::decide_roles(node, topology::make_topology(node), {});
  std::vector<affinity::RoleOverride> fixed;
  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    affinity::RoleOverride one;
    one.pci = node.nics[i].pci;
    one.name_globs = node.nics[i].name;
    one.role = roles[i].role;
    fixed.push_back(std::move(one));
  }
  return fixed;
}

/// Other bus numbers in the same order: buses are numbered through from 3, 200 to a domain.
class Renumbering {
 public:
  explicit Renumbering(const node::Node& node) {
    for (const auto& device : node.pci) add(device.address);
    for (const auto& gpu : node.gpus) add(gpu.pci);
    for (const auto& nic : node.nics) {
      if (nic.pci) add(*nic.pci);
    }
    unsigned next = 0;
    for (auto& [bus, number] : numbers_) number = next++;
  }

  void move(node::PciAddress& address) const {
    const unsigned number = numbers_.at({address.domain, address.bus});
    address.domain = 1 + number / 200;
    address.bus = static_cast<std::uint8_t>(3 + number % 200);
  }

  void move(std::optional<node::PciAddress>& address) const {
    if (address && numbers_.contains({address->domain, address->bus})) move(*address);
  }

 private:
  void add(const node::PciAddress& address) { numbers_[{address.domain, address.bus}]; }

  std::map<std::pair<std::uint32_t, std::uint8_t>, unsigned> numbers_;
};

inline node::Node renumbered(node::Node node) {
  const Renumbering numbers(node);
  for (auto& device : node.pci) {
    numbers.move(device.address);
    numbers.move(device.physfn);
    for (auto& bridge : device.bridges) numbers.move(bridge);
    if (!device.root.empty()) device.root += ":moved";
  }
  for (auto& gpu : node.gpus) numbers.move(gpu.pci);
  for (auto& nic : node.nics) numbers.move(nic.pci);
  for (auto& netdev : node.netdevs) numbers.move(netdev.pci);
  return node;
}

}  // namespace railhead::test
