// SPDX-License-Identifier: Apache-2.0
//
// Lists of the kernel that read memory which it may have freed, by version. Invariants:
//   * from 514aee660df4 (Linux 5.15) on a queue pair stays in the list until its driver has
//     destroyed it, so a list that is made meanwhile asks the driver about what is no more
//     (fill_res_qp_entry, ib_query_qp). 709ba0e5311b mends it: it leaves the list first. The report
//     has a crash of mlx5 (linux-rdma, 13 July 2026, "RDMA/core: Fix use after free in
//     ib_query_qp()");
//   * memory regions, contexts and connection ids have always left their lists first. Of a
//     protection domain nothing is read that a driver frees (24fd6d6f85d2);
//   * a distribution mends without a new number of upstream, which cannot be seen here. So a
//     release that is named here may be mended; one that is not named is not known to be bad.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/host.h"

namespace railhead::usage {

struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;

  friend auto operator<=>(const KernelVersion&, const KernelVersion&) = default;
};

/// "6.8.0-45-generic"; nothing for another text.
std::optional<KernelVersion> parse_kernel_version(std::string_view release);

/// Whether a list of queue pairs is asked for.
enum class ListQueuePairs : std::uint8_t {
  automatic,  ///< not where the kernel is known to read freed memory
  always,
  never,
};

/// Whether this version is known to read freed memory in its list of queue pairs.
bool may_read_freed_memory(const KernelVersion& version);

/// Which devices' queue pairs must not be listed on this machine, and why.
class QueuePairLists {
 public:
  /// Reads the kernel's release: of Debian and Ubuntu that of upstream, which is in another file.
  QueuePairLists(host::Host& host, const std::string& proc_dir, ListQueuePairs choice);

  /// Why not those of this device; "": they may be. Devices without hardware (soft-RoCE, siw) may:
  /// what their drivers are asked for is in the queue pair itself, which stays until the list has
  /// been left.
  [[nodiscard]] std::string why_not(host::Host& host, const std::string& device) const;

 private:
  ListQueuePairs choice_;
  std::string release_;  ///< of a kernel that reads freed memory; else ""
};

}  // namespace railhead::usage
