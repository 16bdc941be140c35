// SPDX-License-Identifier: Apache-2.0
//
// What processes hold open, by the links of /proc/PID/fd. Invariants:
//   * a user of mlx5's DEVX that waits for its events or answers has a file "[devx_async_event]" or
//     "[devx_async_cmd]" (Linux drivers/infiniband/hw/mlx5/devx.c). Objects of DEVX can be had
//     without either, so none of them proves nothing;
//   * PSM2 and OPX use /dev/hfi1_N, Cassini's libcxi /dev/cxiN: not verbs, so in no list of objects
//     (drivers/infiniband/hw/hfi1/file_ops.c);
//   * a channel of IMEX is NVLink between nodes (NVIDIA IMEX service for NVLink networks);
//   * a container may hold millions of descriptors, and end processes while they are read.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "host/host.h"
#include "usage/processes.h"

namespace railhead::usage {

struct HeldFiles {
  std::set<std::uint64_t> sockets;  ///< inodes
  std::size_t devx = 0;
  std::size_t imex_channels = 0;
  std::set<std::string> other_fabrics;       ///< "/dev/hfi1_0", "/dev/cxi0"
  std::vector<std::uint32_t> gpu_processes;  ///< those that have a GPU open
  std::string doubt;                         ///< why there may be more; "": that is all
};

/// Reads them of one container after the other.
class HeldFilesReader {
 public:
  static constexpr std::size_t kProcesses = 1024;              ///< of a container are looked at
  static constexpr std::size_t kDescriptors = 65'536;          ///< likewise
  static constexpr std::size_t kInAll = std::size_t{1} << 20;  ///< of all containers

  HeldFilesReader(host::Host& host, const std::string& proc_dir, const ProcessTable& table)
      : host_(host),
        proc_dir_(proc_dir),
        table_(table) {}

  /// What a process has that took the number of one of these in the meantime is left out.
  HeldFiles read(const std::vector<std::uint32_t>& processes);

 private:
  /// False: it holds more than `limit`.
  bool add(std::uint32_t process, std::size_t limit, HeldFiles& held);

  host::Host& host_;
  std::string proc_dir_;
  const ProcessTable& table_;
  std::size_t looked_at_ = 0;
};

/// Whether a link to this says anything of all that: a socket, DEVX, a channel, a fabric, a GPU.
/// The others name files of the container, which are nobody's business.
bool tells_of_use(std::string_view target);

/// Whether this is the node of a channel of IMEX.
bool is_imex_channel(std::string_view path);

}  // namespace railhead::usage
