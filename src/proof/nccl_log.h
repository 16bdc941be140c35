// SPDX-License-Identifier: Apache-2.0
//
// The facts in a log of NCCL or RCCL, by process and by GPU. Invariants:
//   * Memory is bounded whatever comes in: by the length of a line, the number of processes, ranks,
//     devices and kinds of problem. What is left out is counted.
//   * The log is a stream: one pass, any size, cut into chunks anywhere.
//   * Nothing is decided here; nccl_rank.h and nccl_job.h decide.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proof/nccl_line.h"
#include "proof/nccl_message.h"
#include "proof/nccl_problems.h"

namespace railhead::proof {

/// What a line shows. For each, the first line is kept; of the chosen network the last.
enum class NcclSign : std::uint8_t {
  network,       ///< Using network …
  gpu_direct,    ///< a connection with GPUDirect RDMA
  staged,        ///< a connection through another network, without GPUDirect RDMA
  sockets,       ///< a connection through sockets
  devices,       ///< NET/IB : Using …
  no_list,       ///< the same with no device
  no_device,     ///< NET/IB : No device found
  no_library,    ///< libibverbs was not found
  not_opened,    ///< a device could not be opened
  switched_off,  ///< NCCL_IB_DISABLE, NCCL_NET
  plugin,        ///< a plugin was loaded
  plugin_failed,
  provider,    ///< libfabric's
  dma_buf,     ///< the GPU's memory can be exported as DMA-BUF
  capability,  ///< GPU Direct RDMA Enabled|Disabled for a NIC
};

using NcclEvidence = std::map<NcclSign, NcclQuote>;

/// One process; what NCCL sets up once in it.
struct NcclProcess {
  std::string host;
  std::uint32_t pid = 0;  ///< 0 where the lines do not say
  std::vector<NcclDevice> devices;
  std::vector<NcclDevice> interfaces;     ///< of sockets
  std::map<unsigned, std::string> names;  ///< by device index, as far as the log names them
  std::set<std::string> routes;           ///< "DMA-BUF", "peermem" as far as said
  bool relaxed_ordering = false;
  std::string plugin;        ///< "" for none
  std::string ofi_provider;  ///< "" where libfabric is not used
  NcclEvidence evidence;
};

/// Connections of one GPU through one device of a network.
struct NcclUse {
  std::string network;
  unsigned device = 0;
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  std::uint64_t gpu_direct = 0;  ///< of both
  bool through_other_rank = false;
};

/// One GPU of one process: a rank, or several with several communicators.
struct NcclWorker {
  std::size_t process = 0;
  std::optional<std::uint32_t> gpu;
  std::string network;                       ///< chosen last; "" for none
  std::optional<NcclMembership> membership;  ///< in the largest communicator
  std::optional<unsigned> channel_rank;      ///< in the first connection's communicator
  std::uint64_t communicators = 0;           ///< Init COMPLETE
  std::vector<NcclUse> uses;
  std::set<unsigned> channels;  ///< numbers of those through a network
  std::uint64_t local_connections = 0;
  NcclEvidence evidence;
};

struct NcclLog {
  std::uint64_t lines = 0;
  std::uint64_t records = 0;    ///< messages of level INFO and WARN
  std::uint64_t cut_lines = 0;  ///< longer than the limit; their end was not read
  std::uint64_t left_out = 0;   ///< records of processes and GPUs above the limits
  std::uint64_t nameless = 0;   ///< records that do not say of which process they are
  std::set<std::string> versions;
  std::vector<NcclProcess> processes;
  std::vector<NcclWorker> workers;
  std::vector<NcclProblem> problems;
};

class NcclLogReader {
 public:
  /// The next bytes of the log.
  void feed(std::string_view bytes);
  /// All facts, when the log is at its end.
  NcclLog finish();

 private:
  void read_line(std::string_view line);
  void read_text(std::string_view text);
  void read_record(const NcclRecord& record);
  /// Two writers on one line: in "Using network IBnode-a:7:7 [0] …" the host is node-a, if that is
  /// known, and "IB" the end of the message before.
  void give_back(std::string_view& message, NcclRecord& next) const;
  [[nodiscard]] std::size_t foreign_part(const NcclRecord& record) const;
  void read_about_worker(const NcclRecord& record, std::size_t process);
  void add_connection(NcclWorker& worker, const NcclChannel& channel, std::string_view message);
  std::optional<std::size_t> process_of(const NcclRecord& record);
  NcclWorker* worker_of(const NcclRecord& record, std::size_t process);

  NcclLog log_;
  NcclProblemList problems_;
  std::string pending_;  ///< the line that has no end yet
  bool overlong_ = false;
  std::string room_;
  /// Process by pid and host: hosts that share a pid stand together.
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> process_index_;
  std::map<std::pair<std::size_t, std::optional<std::uint32_t>>, std::size_t> worker_index_;
};

}  // namespace railhead::proof
