// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "host/host.h"

namespace railhead::bench {

/// Queue pairs that somebody else has on a NIC.
struct OtherPairs {
  unsigned processes = 0;                  ///< of all other processes together
  std::map<std::string, unsigned> kernel;  ///< connected ones, by the kernel's module
  unsigned regions = 0;                    ///< of memory, of all other processes together

  [[nodiscard]] bool none() const { return processes == 0 && kernel.empty() && regions == 0; }
};

/// "other processes have 3 queue pairs on it, the kernel's nvme_rdma has 8"; empty for none. Memory
/// is said where no queue pair of a process is: those of DEVX are in no list.
std::string to_string(const OtherPairs& others);

/// Who else uses a NIC, from the kernel's RDMA netlink. Absent where it does not say; fails where
/// it named nobody and gave up in the middle. Queue pairs are not listed where the kernel is known
/// to read freed memory while it does (usage/unsafe_lists.h). Of the kernel's own queue pairs the
/// connected ones count (NVMe-oF, NFS, SMC, iSER); those of every idle NIC do not: management,
/// mlx5's UD and driver pairs for itself, IPoIB's UD.
Result<std::optional<OtherPairs>> queue_pairs_of_others(host::Host& host, const std::string& nic);

}  // namespace railhead::bench
