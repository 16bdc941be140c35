// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proof/nccl_log.h"

namespace railhead::proof {

/// What carries the traffic between nodes.
enum class NcclVerdict : std::uint8_t { rdma, tcp, mixed, unknown };
std::string_view to_string(NcclVerdict verdict);  ///< RDMA, TCP, mixed, unknown

/// Whether the NIC reads and writes the GPU's memory itself, or bytes go through the host's.
enum class NcclGpuPath : std::uint8_t { direct, staged, mixed, unknown };
std::string_view to_string(NcclGpuPath path);  ///< yes, staged, mixed, unknown

/// A device that a rank used, with its name where the log tells it.
struct NcclUsedDevice {
  NcclUse use;
  std::string name;        ///< "" where the log does not name the index
  std::string link_layer;  ///< "" likewise
};

/// What the log says of one rank.
struct NcclRank {
  std::optional<unsigned> rank;
  std::optional<unsigned> size;  ///< of its largest communicator
  std::string host;
  std::uint32_t pid = 0;
  std::optional<std::uint32_t> gpu;
  NcclVerdict verdict = NcclVerdict::unknown;
  std::string transport;  ///< networks used, else the one chosen; "" where the log has none
  std::string plugin;
  NcclGpuPath gpu_path = NcclGpuPath::unknown;
  std::string route;  ///< of GPUDirect: "DMA-BUF" or "peermem", "" where unknown or none
  std::vector<NcclUsedDevice> devices;
  std::vector<NcclDevice> available;
  bool relaxed_ordering = false;
  std::size_t channels = 0;
  std::uint64_t communicators = 0;
  std::string why;
  std::vector<NcclQuote> evidence;  ///< in the order of the log
};

/// The rank that a GPU of a process is.
NcclRank judge_rank(const NcclWorker& worker, const NcclProcess& process);

}  // namespace railhead::proof
