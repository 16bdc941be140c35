// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_job.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"

namespace railhead::proof {
namespace {

constexpr std::string_view kAskForInfo = "run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET";

struct LibraryLevel {
  std::string_view library;
  std::string_view variables;  ///< with which it says what it uses
};

/// Sources: UCX src/ucs/config/global_opts.c, NVSHMEM src/modules/transport/common/env_defs.h,
/// Mooncake src/config.cpp, NIXL src/api/python/logging.py, libfabric man/fabric.7.
constexpr std::array kLevels = {
    LibraryLevel{"UCX", "UCX_LOG_LEVEL=info UCX_PROTO_INFO=y"},
    LibraryLevel{"NVSHMEM", "NVSHMEM_DEBUG=INFO NVSHMEM_DEBUG_SUBSYS=INIT,TRANSPORT"},
    LibraryLevel{"Mooncake", "MC_LOG_LEVEL=INFO"},
    LibraryLevel{"NIXL", "NIXL_LOG_LEVEL=INFO, and its UCX with UCX_LOG_LEVEL=info"},
    LibraryLevel{"libfabric", "FI_LOG_LEVEL=info"}};

/// What the libraries that the log is of have to be asked; "" where it has words of none.
std::string ask_other_libraries(const NcclLog& log) {
  std::vector<std::string> names;
  std::vector<std::string> asks;
  for (const auto& level : kLevels) {
    if (log.other_libraries.count(level.library) == 0) continue;
    names.emplace_back(level.library);
    asks.emplace_back(level.variables);
  }
  if (names.empty()) return "";
  return "the lines of " + join(names, " and ") +
         " in this log do not say which transport was used: run with " + join(asks, ", and with ");
}

std::string name_of(const NcclLog& log, std::size_t file) {
  return log.files[file].empty() ? "the log" : log.files[file];
}

bool is_named(const NcclProcess& process) {
  return process.pid != 0 || !process.host.empty();
}

bool is_nameless(const NcclRank& rank) {
  return rank.library == "NCCL" && rank.pid == 0 && rank.host.empty();
}

/// Every GPU with a word about networks, and the processes that have no such GPU.
std::vector<NcclRank> all_ranks(const NcclLog& log) {
  std::vector<NcclRank> ranks;
  std::set<std::size_t> seen;
  for (const auto& worker : log.workers) {
    seen.insert(worker.process);
    ranks.push_back(judge_rank(worker, log.processes[worker.process]));
  }
  for (std::size_t p = 0; p < log.processes.size(); ++p) {
    const auto& process = log.processes[p];
    if (seen.count(p) > 0 || process.evidence.empty()) continue;
    NcclWorker nothing;
    nothing.process = p;
    ranks.push_back(judge_rank(nothing, process));
  }
  return ranks;
}

/// The log has every rank of every communicator. Of one that leads to another node, as the stages
/// of a pipeline do, the log of one node lacks some: then one rank is there more often than others.
bool has_all_members(const NcclLog& log) {
  // Where ids are printed, what has none is the same communicators again.
  const bool has_ids = std::any_of(log.members.begin(), log.members.end(),
                                   [](const auto& row) { return row.first.second != 0; });
  return !log.members.empty() && log.are_members_whole &&
         std::all_of(log.members.begin(), log.members.end(), [&](const auto& row) {
           const auto& [size, id] = row.first;
           const auto& ranks = row.second;
           const auto count = ranks.begin()->second.size();
           return (has_ids && id == 0) ||
                  (ranks.size() == size &&
                   std::all_of(ranks.begin(), ranks.end(),
                               [&](const auto& rank) { return rank.second.size() == count; }));
         });
}

/// The table of nccl-tests has all ranks, `size` or more, on the one host.
bool has_all_in_table(const NcclLog& log, const std::string& host, std::size_t size) {
  const auto& ranks = log.test_ranks;
  if (log.is_test_table_cut) return false;
  return ranks.size() > 1 && ranks.size() >= size && *ranks.rbegin() + 1 == ranks.size() &&
         log.test_hosts.size() == 1 && (host.empty() || *log.test_hosts.begin() == host);
}

/// The log says no more of communicators than their rings and trees, and all ranks of the largest
/// ring are on one host: it printed their trees, or connections within the host lead to them.
bool has_all_trees(const NcclLog& log, const std::string& host, std::size_t size,
                   std::set<unsigned> ranks) {
  const auto trees = log.tree_ranks.find(host);
  if (!log.members.empty() || log.tree_ranks.size() != 1 || trees == log.tree_ranks.end()) {
    return false;
  }
  ranks.insert(trees->second.begin(), trees->second.end());
  return ranks.size() == size && *ranks.rbegin() < size;
}

/// One process has as many GPUs as the largest communicator has ranks.
bool has_all_in_one_process(const NcclLog& log, std::size_t size) {
  std::map<std::size_t, std::size_t> gpus;
  for (const auto& worker : log.workers) {
    const bool is_rank = !worker.network.empty() || worker.membership;
    const bool is_named = log.processes[worker.process].pid != 0 && worker.gpu;
    if (is_rank && is_named && ++gpus[worker.process] >= size) return true;
  }
  return false;
}

/// What proves that there is no other node; "" where nothing does.
std::string proof_of_single_node(const NcclLog& log) {
  std::size_t size = 0;
  std::set<std::string> hosts;
  std::set<unsigned> local_ranks;
  for (const auto& worker : log.workers) {
    const auto& process = log.processes[worker.process];
    if (process.library != "NCCL") continue;
    hosts.insert(process.host);
    if (!worker.uses.empty() || worker.spans_nodes) return "";
    if (worker.membership) size = std::max<std::size_t>(size, worker.membership->size);
    local_ranks.insert(worker.local_ranks.begin(), worker.local_ranks.end());
  }
  const auto least = std::max(size, log.ring_size);
  // Processes that say nothing of networks are not among the workers.
  for (const auto& process : log.processes) {
    if (process.library == "NCCL" && is_named(process)) hosts.insert(process.host);
  }
  if (hosts.size() > 1 || log.has_ambiguous_host || log.test_hosts.size() > 1) return "";
  if (has_all_in_table(log, hosts.empty() ? "" : *hosts.begin(), least)) {
    return "the table of nccl-tests has all ranks on one host";
  }
  // One rank alone may be of a job that was started in as many pieces as it has ranks.
  if (hosts.empty() || least < 2) return "";
  if (local_ranks.size() >= least && *local_ranks.rbegin() < least) {
    return "connections within the host reach all " + counted(least, "rank");
  }
  // Any number of nodes may call themselves that.
  const bool is_named = !hosts.begin()->empty() && *hosts.begin() != "localhost";
  if (is_named && has_all_members(log)) {
    return "the log of one host has every rank of every communicator";
  }
  if (is_named && has_all_trees(log, *hosts.begin(), least, local_ranks)) {
    return "the log of one host has all " + counted(least, "rank") + " of the ring";
  }
  return has_all_in_one_process(log, least) ? "one process has the GPUs of all ranks" : "";
}

void find_single_node(const NcclLog& log, std::vector<NcclRank>& ranks) {
  const auto proof = proof_of_single_node(log);
  if (proof.empty()) return;
  for (auto& rank : ranks) {
    const bool is_used = rank.verdict == NcclVerdict::rdma || rank.verdict == NcclVerdict::mixed;
    if (rank.library == "NCCL" && !is_used) make_intra_node(rank, proof);
  }
}

/// Lines whose prefix was cut name no rank. In a file that has named ranks they are left out,
/// unless they say TCP: that is true of the job, whichever rank printed it.
std::vector<NcclRank> ranks_of(const NcclLog& log) {
  auto ranks = all_ranks(log);
  std::set<std::size_t> named_files;
  for (const auto& process : log.processes) {
    if (process.library == "NCCL" && is_named(process)) named_files.insert(process.file);
  }
  // Lines of UCX say how NIXL uses it.
  const bool has_ucx = std::any_of(ranks.begin(), ranks.end(),
                                   [](const NcclRank& rank) { return rank.library == "UCX"; });
  std::erase_if(ranks, [&](const NcclRank& rank) {
    const bool is_tcp = rank.verdict == NcclVerdict::tcp || rank.verdict == NcclVerdict::mixed;
    const bool is_noise = is_nameless(rank) && named_files.count(rank.file) > 0 && !is_tcp;
    return is_noise || (rank.library == "NIXL" && rank.transport.empty() && has_ucx);
  });
  find_single_node(log, ranks);
  const auto key = [](const NcclRank& rank) {
    return std::tuple(rank.rank.value_or(UINT32_MAX), std::cref(rank.host).get(), rank.pid,
                      rank.gpu.value_or(UINT32_MAX));
  };
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](const NcclRank& a, const NcclRank& b) { return key(a) < key(b); });
  return ranks;
}

std::size_t count_of(const std::vector<NcclRank>& ranks, NcclVerdict verdict) {
  return static_cast<std::size_t>(std::count_if(
      ranks.begin(), ranks.end(), [&](const auto& rank) { return rank.verdict == verdict; }));
}

/// A rank that says nothing has no vote, unless nobody says anything. What happens within a node
/// counts where nothing happens between nodes.
NcclVerdict verdict_of(const std::vector<NcclRank>& ranks) {
  const auto silent =
      static_cast<std::size_t>(std::count_if(ranks.begin(), ranks.end(), is_silent));
  const auto rdma = count_of(ranks, NcclVerdict::rdma);
  const auto chosen = count_of(ranks, NcclVerdict::rdma_chosen);
  const auto tcp = count_of(ranks, NcclVerdict::tcp);
  if (count_of(ranks, NcclVerdict::mixed) > 0 || (rdma + chosen > 0 && tcp > 0)) {
    return NcclVerdict::mixed;
  }
  if (tcp > 0) return NcclVerdict::tcp;
  if (count_of(ranks, NcclVerdict::unknown) > silent) return NcclVerdict::unknown;
  if (rdma > 0) return NcclVerdict::rdma;
  if (chosen > 0) return NcclVerdict::rdma_chosen;
  const bool is_local = count_of(ranks, NcclVerdict::intra_node) > 0;
  return is_local && silent == 0 ? NcclVerdict::intra_node : NcclVerdict::unknown;
}

NcclGpuPath path_of(const std::vector<NcclRank>& ranks) {
  std::set<NcclGpuPath> paths;
  for (const auto& rank : ranks) {
    if (rank.gpu_path != NcclGpuPath::unknown) paths.insert(rank.gpu_path);
  }
  if (paths.empty()) return NcclGpuPath::unknown;
  return paths.size() == 1 ? *paths.begin() : NcclGpuPath::mixed;
}

std::string why_of(const NcclLog& log, const NcclJob& job) {
  if (log.records == 0 && !log.unread.empty()) {
    const auto& first = log.unread.front();
    if (first.remedy.empty()) return first.what;
    return name_of(log, first.file) + " is " + first.what + ": " + first.remedy + " makes it text";
  }
  if (log.records == 0 && job.ranks.empty()) {
    if (auto ask = ask_other_libraries(log); !ask.empty()) return ask;
    return "no message of NCCL at level INFO is in this log: " + std::string(kAskForInfo);
  }
  if (job.ranks.empty() || std::all_of(job.ranks.begin(), job.ranks.end(), is_silent)) {
    return "the messages in this log do not say which network was used: " +
           std::string(kAskForInfo);
  }
  std::vector<std::string> parts;
  for (const auto verdict : kNcclVerdicts) {
    const auto count = count_of(job.ranks, verdict);
    if (count > 0) parts.push_back(counted(count, "rank") + " " + std::string(to_string(verdict)));
  }
  return join(parts, ", ");
}

void warn_of_silent_ranks(const NcclJob& job, std::vector<std::string>& warnings) {
  const auto silent =
      static_cast<std::size_t>(std::count_if(job.ranks.begin(), job.ranks.end(), is_silent));
  if (silent == 0 || job.verdict == NcclVerdict::unknown) return;
  warnings.push_back(counted(silent, "rank") + " whose lines do not say which network was used");
}

void warn_of_missing_ranks(const NcclJob& job, std::vector<std::string>& warnings) {
  unsigned size = 0;
  for (const auto& rank : job.ranks) size = std::max(size, rank.size.value_or(0));
  std::set<unsigned> seen;
  for (const auto& rank : job.ranks) {
    if (rank.size == size && rank.rank) seen.insert(*rank.rank);
  }
  if (size > 0 && seen.size() < size) {
    warnings.push_back("the log has " + std::to_string(seen.size()) + " of " +
                       counted(size, "rank") + " of the largest communicator");
  }
}

void warn_of_nameless(const NcclLog& log, const NcclJob& job, std::vector<std::string>& warnings) {
  if (log.nameless == 0) return;
  const bool is_shown = std::any_of(job.ranks.begin(), job.ranks.end(), is_nameless);
  warnings.push_back(counted(log.nameless, "message") + " without host and process: " +
                     (is_shown ? "shown as a rank of their own" : "they belong to no rank"));
}

/// Ranks of one job are mostly alike: a process with fewer ports has lost one.
void warn_of_missing_ports(const NcclLog& log, std::vector<std::string>& warnings) {
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (const auto& process : log.processes) {
    if (process.library != "NCCL") continue;
    if (process.devices.empty() && process.evidence.count(NcclSign::no_list) == 0) continue;
    least = std::min(least, process.devices.size());
    most = std::max(most, process.devices.size());
  }
  if (least < most) {
    warnings.push_back("some processes list " + counted(least, "RDMA port") + ", others " +
                       std::to_string(most));
  }
}

std::string doubt_of(NcclDoubt why, const NcclDoubtful& doubtful, const std::string& place) {
  const bool is_one = doubtful.count == 1;
  const auto lines = counted(doubtful.count, "line");
  switch (why) {
    case NcclDoubt::no_text:
      return place + " is not text (" + doubtful.what + "), so that what it says was not read";
    case NcclDoubt::broken:
      return lines + (is_one ? " breaks" : " break") +
             " off before the network that is used: the first is " + place;
    case NcclDoubt::piece:
      return lines + (is_one ? " has" : " have") +
             " a piece of a message about sockets: the first is " + place;
    case NcclDoubt::no_room:
      return "one rank names more networks than are kept: the first left out is in " + place;
  }
  return "";
}

/// What may hide TCP.
std::vector<std::string> doubts_about(const NcclLog& log) {
  std::vector<std::string> doubts;
  for (const auto& file : log.unread) {
    const bool is_form = !file.remedy.empty();
    doubts.push_back(is_form ? name_of(log, file.file) + " was not read: it is " + file.what +
                                   ", " + file.remedy + " makes it text"
                             : file.what + ", and was not read");
  }
  for (const auto& [why, doubtful] : log.doubts) {
    const auto& at = doubtful.first.place;
    const auto file = log.files.size() > 1 ? log.files[at.file] + ", " : "";
    doubts.push_back(doubt_of(why, doubtful, file + "line " + std::to_string(at.line)));
  }
  if (log.left_out > 0) {
    doubts.push_back(std::to_string(log.left_out) +
                     " messages of processes or GPUs above the limit of 65536 were left out");
  }
  return doubts;
}

std::vector<std::string> warnings_of(const NcclLog& log, const NcclJob& job) {
  std::vector<std::string> warnings;
  const auto staged = std::count_if(job.ranks.begin(), job.ranks.end(), [](const auto& rank) {
    return rank.verdict != NcclVerdict::tcp &&
           (rank.gpu_path == NcclGpuPath::staged || rank.gpu_path == NcclGpuPath::mixed);
  });
  if (staged > 0) {
    warnings.push_back(counted(static_cast<std::size_t>(staged), "rank") +
                       " with connections that go through the host's memory: no GPUDirect RDMA");
  }
  warn_of_missing_ranks(job, warnings);
  warn_of_silent_ranks(job, warnings);
  warn_of_missing_ports(log, warnings);
  warn_of_nameless(log, job, warnings);
  if (log.versions.size() > 1) {
    warnings.push_back("ranks run different versions: " +
                       join({log.versions.begin(), log.versions.end()}, ", "));
  }
  if (log.split_lines > 0) {
    warnings.push_back(counted(log.split_lines, "line") +
                       " of more than 16384 bytes, read in pieces");
  }
  const auto doubts = doubts_about(log);
  warnings.insert(warnings.end(), doubts.begin(), doubts.end());
  if (log.problems_left_out > 0) {
    warnings.push_back(counted(log.problems_left_out, "more warning") +
                       " of NCCL's that differ from those shown");
  }
  return warnings;
}

}  // namespace

NcclJob judge(const NcclLog& log) {
  NcclJob job;
  job.ranks = ranks_of(log);
  job.verdict = verdict_of(job.ranks);
  const bool is_in_table = job.ranks.empty() && !proof_of_single_node(log).empty();
  if (is_in_table) job.verdict = NcclVerdict::intra_node;
  job.gpu_path = path_of(job.ranks);
  job.why =
      is_in_table ? "all ranks are on one node, as the table of nccl-tests says" : why_of(log, job);
  job.warnings = warnings_of(log, job);
  const bool is_good = job.verdict == NcclVerdict::rdma ||
                       job.verdict == NcclVerdict::rdma_chosen ||
                       job.verdict == NcclVerdict::intra_node;
  // Nothing that was not read is called RDMA: there may be TCP.
  if (const auto doubts = doubts_about(log); is_good && !doubts.empty()) {
    job.verdict = NcclVerdict::unknown;
    job.why += ", but " + doubts.front();
  }
  return job;
}

}  // namespace railhead::proof
