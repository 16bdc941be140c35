// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checks/machine.h"

namespace railhead::checks {

/// Calls `use` with every ACTIVE Ethernet port of NICs that carry traffic: the NIC's index, and the
/// port.
template <typename Use>
void for_each_roce_port(const Machine& machine, Use use) {
  for (const auto n : machine.traffic_nics()) {
    const auto& nic = machine.node.nics[n];
    if (!nic.registered || nic.elsewhere) continue;
    for (const auto& port : nic.ports) {
      if (port.link_layer == node::LinkLayer::ethernet && port.state == node::PortState::active) {
        use(n, port);
      }
    }
  }
}

}  // namespace railhead::checks
