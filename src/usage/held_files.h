// SPDX-License-Identifier: Apache-2.0
//
// What processes hold open, by the links of /proc/PID/fd. Invariants:
//   * a user of mlx5's DEVX that waits for its events or answers has a file "[devx_async_event]" or
//     "[devx_async_cmd]" (Linux drivers/infiniband/hw/mlx5/devx.c). Objects of DEVX can be had
//     without either, so none of them proves nothing;
//   * PSM2 and OPX use /dev/hfi1_N, Cassini's libcxi /dev/cxiN: not verbs, so in no list of objects
//     (drivers/infiniband/hw/hfi1/file_ops.c);
//   * a channel of IMEX is NVLink between nodes (NVIDIA IMEX service for NVLink networks).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "host/host.h"

namespace railhead::usage {

struct HeldFiles {
  std::set<std::uint64_t> sockets;  ///< inodes
  std::size_t devx = 0;
  std::size_t imex_channels = 0;
  std::set<std::string> other_fabrics;       ///< "/dev/hfi1_0", "/dev/cxi0"
  std::vector<std::uint32_t> gpu_processes;  ///< those that have a GPU open
  std::string doubt;                         ///< why there may be more; "": that is all
  bool is_cut = false;                       ///< there are more than are looked at
};

/// Of at most 1,024 processes and 65,536 descriptors.
HeldFiles read_held_files(host::Host& host, const std::string& proc_dir,
                          const std::vector<std::uint32_t>& processes);

/// Whether this is the node of a channel of IMEX.
bool is_imex_channel(std::string_view path);

}  // namespace railhead::usage
