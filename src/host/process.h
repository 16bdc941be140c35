// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"

namespace railhead::host {

/// What a process may do, from procfs.
struct ProcessFacts {
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

  std::optional<std::uint64_t> cap_effective;       ///< CapEff of /proc/PID/status
  std::optional<std::uint64_t> memlock_soft_bytes;  ///< "Max locked memory" of /proc/PID/limits
  std::optional<std::uint64_t> memlock_hard_bytes;
  std::optional<std::uint64_t> cap_bounding{};  ///< CapBnd of status
  std::optional<std::uint64_t> uid{};  ///< effective, Uid of status, in the reader's user namespace

  friend bool operator==(const ProcessFacts&, const ProcessFacts&) = default;
};

/// Absent when there is no such process.
Result<std::optional<ProcessFacts>> read_process(Host& host, const std::string& proc_dir, int pid);

/// Processes whose comm is this name (the kernel keeps 15 bytes of it), ascending.
Result<std::vector<int>> find_processes(Host& host, const std::string& proc_dir,
                                        std::string_view name);

}  // namespace railhead::host
