// SPDX-License-Identifier: Apache-2.0
#include "system/counters.h"

#include "host/boot_id.h"
#include "system/gather.h"

namespace railhead::system {
namespace {

/// Of a queue pair's transport; mlx5 counts them for all of a device.
constexpr std::array kHardwareCounters = {"local_ack_timeout_err", "rnr_nak_retry_err",
                                          "roce_slow_restart"};

}  // namespace

/// Reading these of a restricted function writes a line into the kernel's log each time, so after
/// the first EINVAL no other counter of that port is read (prometheus/node_exporter#3434).
void read_counters(const Gather& gather) {
  gather.text("/proc/uptime", host::keep_first_number);
  gather.text(host::kBootId);
  for (const auto& nic : gather.node.nics) {
    if (!nic.registered || nic.elsewhere) continue;
    for (const auto& netdev : nic.netdevs)
      gather.text("/sys/class/net/" + netdev + "/carrier_down_count");
    for (const auto& port : nic.ports) {
      const auto of_port = node::port_folder(nic, port);
      for (const auto* counter : kHardwareCounters)
        gather.text(of_port + "/hw_counters/" + counter);
      const auto folder = of_port + "/counters/";
      for (const auto& counter : kPmaCounters) {
        if (gather.text(folder + std::string(counter.name)).error == "EINVAL") break;
      }
    }
  }
}

}  // namespace railhead::system
