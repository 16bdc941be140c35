// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "system/gather.h"

namespace railhead::system {
namespace {

/// PMA counters that stop at their largest value, and those of retransmission.
constexpr std::array kCounters = {"symbol_error",
                                  "link_error_recovery",
                                  "link_downed",
                                  "port_rcv_errors",
                                  "port_rcv_remote_physical_errors",
                                  "port_rcv_switch_relay_errors",
                                  "port_xmit_discards",
                                  "port_xmit_constraint_errors",
                                  "port_rcv_constraint_errors",
                                  "local_link_integrity_errors",
                                  "excessive_buffer_overrun_errors",
                                  "VL15_dropped"};

/// Of a queue pair's transport; mlx5 counts them for all of a device.
constexpr std::array kHardwareCounters = {"local_ack_timeout_err", "rnr_nak_retry_err",
                                          "roce_slow_restart"};

}  // namespace

/// Reading these of a restricted function writes a line into the kernel's log each time, so after
/// the first EINVAL no other counter of that port is read (prometheus/node_exporter#3434).
void read_counters(const Gather& gather) {
  gather.text("/proc/uptime");
  gather.text("/proc/sys/kernel/random/boot_id");
  for (const auto& nic : gather.node.nics) {
    if (!nic.registered || nic.elsewhere) continue;
    for (const auto& port : nic.ports) {
      const auto of_port =
          "/sys/class/infiniband/" + nic.name + "/ports/" + std::to_string(port.number);
      for (const auto* counter : kHardwareCounters)
        gather.text(of_port + "/hw_counters/" + counter);
      const auto folder = of_port + "/counters/";
      for (const auto* counter : kCounters) {
        if (gather.text(folder + counter).error == "EINVAL") break;
      }
    }
  }
}

}  // namespace railhead::system
