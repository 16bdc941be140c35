// SPDX-License-Identifier: Apache-2.0
//
// What a driver counts of its netdev under names of its own (`ethtool -S`). Invariants (Linux
// include/uapi/linux/ethtool.h, net/ethtool/ioctl.c):
//   * no capability is needed: ETHTOOL_GDRVINFO, GSSET_INFO, GSTRINGS and GSTATS are among the
//     commands that dev_ethtool() leaves to everybody;
//   * only netdevs of the caller's network namespace are seen, and another namespace can have one
//     of the same name: the bus address of the answer tells them apart;
//   * names and numbers are two answers, and the kernel writes as many as there are then, whatever
//     room the caller has: ours has more than enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace railhead::host {

using EthtoolCounters = std::vector<std::pair<std::string, std::uint64_t>>;

/// What the driver of a PCI function counts of its netdev, in its order. Absent where no such
/// netdev is in our network namespace, or it is of another function, or its driver counts nothing.
/// Asks the kernel that we run on.
Result<std::optional<EthtoolCounters>> ask_driver_counters(const std::string& netdev,
                                                           const std::string& pci_address);

/// Names in blocks of 32 bytes and their numbers; fewer where the blocks are fewer.
EthtoolCounters paired_counters(std::string_view names, const std::vector<std::uint64_t>& numbers);

}  // namespace railhead::host
