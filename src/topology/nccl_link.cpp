// SPDX-License-Identifier: Apache-2.0
#include "topology/nccl_link.h"

#include <algorithm>
#include <array>

namespace railhead::topology {
namespace {

constexpr unsigned kLanes = 16;
constexpr std::array kGenerations = {8.0, 16.0, 32.0, 64.0};  // GT/s of PCIe 3.0 to 6.0

}  // namespace

Link link_of(const node::PciDevice& device) {
  return {device.link_gts ? device.link_gts : device.max_link_gts,
          device.link_width ? device.link_width : device.max_link_width};
}

Link at_least(const Link& link, const node::Nic& nic) {
  if (link.known()) return link;
  double gbps = 0;
  for (const auto& port : nic.ports) {
    if (port.state == node::PortState::active) gbps += port.rate_gbps.value_or(0);
  }
  const auto* const enough = std::find_if(kGenerations.begin(), kGenerations.end(),
                                          [&](double gts) { return gts * kLanes >= gbps; });
  if (gbps == 0 || enough == kGenerations.end()) return link;
  return {*enough, kLanes};
}

}  // namespace railhead::topology
