// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "topology/known_machine.h"
#include "unit/node_builder.h"

namespace railhead::test {

/// An entry of the built-in table.
inline const topology::KnownMachine& known(const std::string& name) {
  const auto& table = topology::known_machines();
  const auto at = std::ranges::find_if(
      table, [&](const topology::KnownMachine& machine) { return machine.name == name; });
  if (at == table.end()) {
    ADD_FAILURE() << "the table has no " << name;
    std::abort();
  }
  return *at;
}

inline std::uint16_t hex16(const std::string& text) {
  return static_cast<std::uint16_t>(std::stoul(text, nullptr, 16));
}

/// A virtual machine of this type as its guest shows it: every function on its own address and
/// NUMA node 0, or, where the tree is real, a switch for each GPU with its share of the NICs.
inline NodeBuilder builder_of(const topology::KnownMachine& machine) {
  NodeBuilder b;
  b.numa(0, 0).numa(1, 1).numa(2, 2).numa(3, 3);
  b.raw().hypervisor = true;
  b.raw().dmi = {machine.sys_vendor, machine.product_name, machine.asset_tag};
  const auto gpu_at = [&](const Slot& slot) {
    b.gpu(slot);
    node::PciDevice& pci = b.raw().pci.back();
    pci.vendor = hex16(machine.gpu_ids.front().substr(0, 4));
    pci.device = hex16(machine.gpu_ids.front().substr(5));
  };
  const auto own_bus = [&](const node::PciAddress& address) {
    return b.host_bridge(address.bus, 0, address.domain);
  };
  const auto place = [&](const node::PciAddress& address) {
    b.raw().pci.back().address = address;
    return address;
  };
  for (const auto& one : machine.switches) {
    for (const auto& address : one.nics) {
      b.nic(own_bus(address));
      b.raw().nics.back().pci = place(address);
    }
    for (const auto& address : one.gpus) {
      gpu_at(own_bus(address));
      b.raw().gpus.back().pci = place(address);
    }
  }
  if (!machine.tree_is_real) return b;
  for (unsigned g = 0; g < machine.gpus; ++g) {
    const Slot root = b.host_bridge(static_cast<std::uint8_t>(0x10 + 0x10 * g), g / 4);
    const Slot below = b.pcie_switch(b.bridge(root));
    for (unsigned n = 0; n < machine.nics / machine.gpus; ++n) b.nic(b.bridge(below));
    gpu_at(b.bridge(below));
  }
  return b;
}

inline node::Node machine_of(const topology::KnownMachine& machine) {
  return builder_of(machine).build();
}

}  // namespace railhead::test
