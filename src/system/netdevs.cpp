// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "system/gather.h"

namespace railhead::system {

/// OFED's driver shows congestion control of RoCE as ecn/roce_np and roce_rp below a netdev, a file
/// for each of the eight priorities; the kernel's own driver does not.
void read_netdevs(const Gather& gather) {
  std::set<std::string> names;
  for (const auto& nic : gather.node.nics) {
    names.insert(nic.netdevs.begin(), nic.netdevs.end());
    for (const auto& port : nic.ports) {
      for (const auto& gid : port.gids) {
        if (gid.netdev) names.insert(*gid.netdev);
      }
    }
  }
  for (const auto& name : names) {
    const auto folder = "/sys/class/net/" + name;
    gather.text(folder + "/mtu");
    for (const auto* setting : {"arp_ignore", "arp_announce", "rp_filter"}) {
      gather.text("/proc/sys/net/ipv4/conf/" + name + "/" + setting);
    }
    if (!gather.folder(folder + "/ecn").value) continue;
    for (const auto* side : {"roce_np", "roce_rp"}) {
      for (int priority = 0; priority < 8; ++priority) {
        gather.text(folder + "/ecn/" + side + "/enable/" + std::to_string(priority));
      }
    }
  }
}

}  // namespace railhead::system
