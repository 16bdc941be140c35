// SPDX-License-Identifier: Apache-2.0
//
// The facts in logs of NCCL, RCCL, UCX, NIXL and Mooncake, by process and by GPU. Invariants:
//   * Memory is bounded whatever comes in: by the length of a line, the number of processes, ranks,
//     devices and kinds of problem. What is left out is counted.
//   * A log is a stream: one pass, any size, cut into chunks anywhere. Several logs follow one
//     another.
//   * Nothing is decided here; nccl_rank.h and nccl_job.h decide.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "proof/log_lines.h"
#include "proof/nccl_line.h"
#include "proof/nccl_message.h"
#include "proof/nccl_problems.h"
#include "proof/transport_line.h"

namespace railhead::proof {

/// What a line shows. For each, the first line is kept; of the chosen network the last.
enum class NcclSign : std::uint8_t {
  network,        ///< Using network …
  gpu_direct,     ///< a connection with GPUDirect RDMA
  staged,         ///< a connection through another network, without GPUDirect RDMA
  sockets,        ///< a connection through sockets
  queue_pair,     ///< a connection of verbs was made
  rdma_proof,     ///< verbs carried data, by what went wrong
  tcp_proof,      ///< sockets did
  network_proof,  ///< the chosen network did
  devices,        ///< NET/IB : Using …
  no_list,        ///< the same with no device
  no_device,      ///< NET/IB : No device found
  no_library,     ///< libibverbs was not found
  not_opened,     ///< a device could not be opened
  switched_off,   ///< NCCL_IB_DISABLE, NCCL_NET
  plugin,         ///< a plugin was loaded
  plugin_failed,
  provider,    ///< libfabric's
  dma_buf,     ///< the GPU's memory can be exported as DMA-BUF
  capability,  ///< GPU Direct RDMA Enabled|Disabled for a NIC
};

using NcclEvidence = std::map<NcclSign, NcclQuote>;

/// One process; what NCCL sets up once in it. For lines that name no process: all of them in a
/// file.
struct NcclProcess {
  std::string library;   ///< "NCCL", "UCX", "Mooncake", "NIXL", "NVSHMEM"
  std::size_t file = 0;  ///< where it was seen first
  std::string host;
  std::uint32_t pid = 0;  ///< 0 where the lines do not say
  std::vector<NcclDevice> devices;
  std::vector<NcclDevice> interfaces;     ///< of sockets
  std::map<unsigned, std::string> names;  ///< by device index, as far as the log names them
  std::set<std::string> routes;           ///< "DMA-BUF", "peermem" as far as said
  bool relaxed_ordering = false;
  std::string listed;       ///< the network whose devices were listed last; "Socket" is none
  std::string initialized;  ///< "Initialized NET plugin …", the last
  std::string surveyed;  ///< the network whose NICs went into NCCL's topology; SHARP if it started
  bool is_before_2_7 = false;  ///< it does not print which network was chosen
  bool dma_buf_is_off = false;
  std::string plugin;        ///< "" for none
  std::string ofi_provider;  ///< "" where libfabric is not used
  std::string ofi_filter;    ///< the provider that alone will do; "" for any
  NcclEvidence evidence;
};

/// Connections of one GPU through one device of a network.
struct NcclUse {
  std::string network;      ///< for UCX the transport: "rc_mlx5"
  unsigned device = 0;      ///< index in the list of devices
  std::string device_name;  ///< of UCX, which has no index
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
  std::set<std::string> networks;            ///< all that were chosen
  std::optional<NcclMembership> membership;  ///< in the largest communicator
  bool spans_nodes = false;                  ///< NCCL counts several in some communicator
  unsigned one_node_size = 0;            ///< ranks of the largest that a plugin says is of one node
  std::optional<unsigned> channel_rank;  ///< in the first connection's communicator
  std::uint64_t communicators = 0;       ///< Init COMPLETE
  std::vector<NcclUse> uses;
  std::uint64_t broken = 0;  ///< connections and choices whose line breaks off before the network
  std::set<unsigned> channels;  ///< numbers of those through a network
  std::uint64_t local_connections = 0;
  std::set<unsigned> local_ranks;  ///< the ends of those
  NcclEvidence evidence;
};

/// A file that is no text, compressed or in another encoding, or that could not be read.
struct NcclUnreadFile {
  std::size_t file = 0;
  std::string what;    ///< "compressed by gzip"; "nccl.d: is a directory"
  std::string remedy;  ///< "zcat"; "" where it could not be read
};

/// What of a log may hide TCP: it was not read, or belongs to no connection that is known.
enum class NcclDoubt : std::uint8_t {
  no_text,  ///< compressed or otherwise no text, behind or between lines
  broken,   ///< the line of a connection or a choice breaks off before the network
  piece,    ///< a piece of a connection or a choice over TCP
  no_room,  ///< above the limits of what is kept
};

struct NcclDoubtful {
  std::string what;  ///< of no_text
  NcclQuote first;
  std::uint64_t count = 0;
};

struct NcclLog {
  std::vector<std::string> files;  ///< "" where nobody named it
  std::vector<NcclUnreadFile> unread;
  std::uint64_t lines = 0;
  std::uint64_t records = 0;      ///< messages of level INFO and WARN
  std::uint64_t split_lines = 0;  ///< longer than the limit, and read in pieces
  std::map<NcclDoubt, NcclDoubtful> doubts;
  std::uint64_t left_out = 0;  ///< records of processes and GPUs above the limits
  std::uint64_t nameless = 0;  ///< records that do not say of which process they are
  /// By size and id of communicator, and rank: the process and the address of each that was seen.
  using Members = std::map<unsigned, std::set<std::pair<std::size_t, std::uint64_t>>>;
  std::map<std::pair<unsigned, std::uint64_t>, Members> members;
  bool are_members_whole = true;     ///< none was left out
  std::set<unsigned> test_ranks;     ///< of the table that nccl-tests prints
  std::set<std::string> test_hosts;  ///< of two at most, the hosts there
  bool is_test_table_cut = false;    ///< a row was, or nothing stands behind the last
  std::size_t ring_size = 0;         ///< of the largest ring that was printed whole
  /// One name for several machines: an interface of it has two addresses, or a GPU two ranks.
  bool has_ambiguous_host = false;
  /// By host, of two at most: the ranks whose trees it printed.
  std::map<std::string, std::set<unsigned>, std::less<>> tree_ranks;
  std::set<std::string> versions;
  std::set<std::string_view> other_libraries;  ///< whose words it has: UCX, NVSHMEM and others
  std::vector<NcclProcess> processes;
  std::vector<NcclWorker> workers;
  std::vector<NcclProblem> problems;
  std::uint64_t problems_left_out = 0;
};

class NcclLogReader {
 public:
  /// What follows is the log of this name. A log without a name needs no call.
  void begin_file(std::string name);
  /// The next bytes of the log.
  void feed(std::string_view bytes);
  /// No more of this log can be read. `why` names it: "nccl.d: is a directory".
  void give_up_file(const std::string& why);
  /// All facts, when the last log is at its end.
  NcclLog finish();

 private:
  static constexpr std::size_t kMaxUses = 64;
  static constexpr std::size_t kMaxHost = 253;
  static constexpr std::size_t kMaxPids = 1024;

  /// How a process is found again; nameless lines belong together by file.
  using ProcessKey = std::tuple<std::uint32_t, std::string, std::string_view, std::size_t>;

  void end_file();
  void feed_text(std::string_view bytes);
  void judge_head();
  void read_line(const LogLine& line);
  /// A line of its own, or the end of the one before that was wrapped.
  void read_piece(std::string_view text);
  void end_unfinished();
  /// What of the line may be TCP that nothing else tells of.
  void note_doubts(std::string_view text, const std::vector<NcclRecord>& records);
  void doubt(NcclDoubt why, std::string_view text, std::string_view what = {});
  void read_foreign(std::string_view line);
  /// A row of a table of UCX's about a peer on another node, if it has lanes.
  std::optional<UcxEndpoint> read_table(std::string_view line);
  void read_text(std::string_view text, std::vector<NcclRecord> records);
  void read_record(const NcclRecord& record);
  /// Two writers on one line: in "Using network IBnode-a:7:7 [0] …" the host is node-a, if that is
  /// known, and "IB" the end of the message before.
  void give_back(std::string_view& message, NcclRecord& next) const;
  [[nodiscard]] std::size_t foreign_part(const NcclRecord& record) const;
  void read_about_worker(const NcclRecord& record, std::size_t process);
  void add_network(NcclWorker& worker, std::string_view network);
  void add_address(const NcclRecord& record);
  void add_tree(std::optional<unsigned> rank, std::string_view host);
  void add_test_rank(const NcclTestRank& row);
  void add_member(const NcclMembership& membership, std::size_t process);
  void add_connection(NcclWorker& worker, const NcclChannel& channel, std::string_view message);
  void add_endpoint(const UcxEndpoint& endpoint, std::string_view line);
  void add_chosen(const ChosenTransport& chosen, std::string_view line);
  /// Notes what a problem proves about the process.
  void note_proof(NcclShows shows, std::size_t process, std::string_view text);
  [[nodiscard]] NcclPlace place() const;
  /// The most processes, and the most GPUs, that a log of the present length may have.
  [[nodiscard]] std::size_t most_kept() const;
  [[nodiscard]] ProcessKey key_of(const NcclRecord& record, std::string_view library) const;
  std::optional<std::size_t> process_of(const NcclRecord& record,
                                        std::string_view library = "NCCL");
  NcclWorker* worker_of(const NcclRecord& record, std::size_t process);

  NcclLog log_;
  NcclProblemList problems_;
  std::uint64_t bytes_ = 0;  ///< of all files
  std::uint64_t line_ = 0;   ///< in the present file
  std::size_t members_ = 0;  ///< in log_.members
  std::string head_;         ///< its first bytes, until it is known what it is
  bool head_is_judged_ = false;
  bool is_text_ = true;
  LogLines lines_;
  bool is_within_line_ = false;
  bool is_at_end_ = false;  ///< of a file
  std::string unfinished_;  ///< a line whose message goes on in the next
  std::uint64_t unfinished_line_ = 0;
  bool table_is_between_nodes_ = false;
  bool last_table_was_between_nodes_ = false;
  bool was_test_row_cut_ = false;
  std::map<std::pair<std::string, unsigned>, unsigned> test_devices_;  ///< whose rank each is
  /// Of an interface of a host, its address.
  std::map<std::pair<std::string, std::string>, std::string> addresses_;
  std::map<std::uint32_t, std::string> providers_;  ///< libfabric's, by process, by its own lines
  std::string room_;
  std::map<ProcessKey, std::size_t> process_index_;
  std::map<std::pair<std::size_t, std::optional<std::uint32_t>>, std::size_t> worker_index_;
};

}  // namespace railhead::proof
