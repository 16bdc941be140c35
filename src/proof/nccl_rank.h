// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proof/nccl_log.h"

namespace railhead::proof {

/// What carries the traffic between nodes.
enum class NcclVerdict : std::uint8_t {
  rdma,         ///< connections show it, or failures that only RDMA has
  rdma_chosen,  ///< a network for RDMA was chosen; no connection is in the log
  tcp,
  intra_node,  ///< there is one node: shared memory, NVLink, PCIe
  mixed,
  unknown,
};
/// RDMA, RDMA (chosen), TCP, intra-node, mixed, unknown.
std::string_view to_string(NcclVerdict verdict);
inline constexpr std::array kNcclVerdicts = {NcclVerdict::rdma,  NcclVerdict::rdma_chosen,
                                             NcclVerdict::tcp,   NcclVerdict::intra_node,
                                             NcclVerdict::mixed, NcclVerdict::unknown};

/// Whether the NIC reads and writes the GPU's memory itself, or bytes go through the host's.
enum class NcclGpuPath : std::uint8_t { direct, staged, mixed, unknown };
std::string_view to_string(NcclGpuPath path);  ///< yes, staged, mixed, unknown

/// A device that a rank used, with its name where the log tells it.
struct NcclUsedDevice {
  NcclUse use;
  std::string name;        ///< "" where the log does not name the index
  std::string link_layer;  ///< "" likewise
};

/// What the log says of one rank, or of a process that uses another library.
struct NcclRank {
  std::string library;   ///< "NCCL", "UCX", "Mooncake", "NIXL", "NVSHMEM"
  std::size_t file = 0;  ///< index in NcclLog::files
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
  /// `available` is all that the log has: which of them were used it does not say.
  bool has_candidates_only = false;
  std::size_t channels = 0;
  std::uint64_t local_connections = 0;
  std::uint64_t communicators = 0;
  std::string why;
  std::vector<NcclQuote> evidence;  ///< in the order of the log
};

/// True where nothing in the log says which network the rank uses.
bool is_silent(const NcclRank& rank);

/// The log proves that all ranks of the job are on one node; `why` says how.
void make_intra_node(NcclRank& rank, std::string why);

/// The rank that a GPU of a process is.
NcclRank judge_rank(const NcclWorker& worker, const NcclProcess& process);

}  // namespace railhead::proof
