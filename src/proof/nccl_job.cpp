// SPDX-License-Identifier: Apache-2.0
#include "proof/nccl_job.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"

namespace railhead::proof {
namespace {

constexpr std::string_view kAskForInfo = "run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET";

bool is_named(const NcclProcess& process) {
  return process.pid != 0 || !process.host.empty();
}

bool is_nameless(const NcclRank& rank) {
  return rank.pid == 0 && rank.host.empty();
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

/// Lines whose prefix was cut are no rank of their own beside those that are named; but what they
/// say of TCP is so, whoever said it.
std::vector<NcclRank> ranks_of(const NcclLog& log) {
  auto ranks = all_ranks(log);
  if (std::any_of(log.processes.begin(), log.processes.end(), is_named)) {
    const auto is_noise = [](const NcclRank& rank) {
      const bool is_tcp = rank.verdict == NcclVerdict::tcp || rank.verdict == NcclVerdict::mixed;
      return is_nameless(rank) && !is_tcp;
    };
    std::erase_if(ranks, is_noise);
  }
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

NcclVerdict verdict_of(const std::vector<NcclRank>& ranks) {
  const auto rdma = count_of(ranks, NcclVerdict::rdma);
  const auto tcp = count_of(ranks, NcclVerdict::tcp);
  if (ranks.empty()) return NcclVerdict::unknown;
  if (count_of(ranks, NcclVerdict::mixed) > 0 || (rdma > 0 && tcp > 0)) return NcclVerdict::mixed;
  if (tcp > 0) return NcclVerdict::tcp;
  return rdma == ranks.size() ? NcclVerdict::rdma : NcclVerdict::unknown;
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
  if (log.records == 0) {
    return "no message of NCCL at level INFO is in this log: " + std::string(kAskForInfo);
  }
  if (job.ranks.empty() ||
      std::all_of(job.ranks.begin(), job.ranks.end(),
                  [](const NcclRank& rank) { return rank.transport.empty(); })) {
    return "the messages in this log do not say which network was used: " +
           std::string(kAskForInfo);
  }
  std::vector<std::string> parts;
  for (const auto verdict :
       {NcclVerdict::rdma, NcclVerdict::tcp, NcclVerdict::mixed, NcclVerdict::unknown}) {
    const auto count = count_of(job.ranks, verdict);
    if (count > 0) parts.push_back(counted(count, "rank") + " " + std::string(to_string(verdict)));
  }
  return join(parts, ", ");
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
    if (process.devices.empty() && process.evidence.count(NcclSign::no_list) == 0) continue;
    least = std::min(least, process.devices.size());
    most = std::max(most, process.devices.size());
  }
  if (least < most) {
    warnings.push_back("some processes list " + counted(least, "RDMA port") + ", others " +
                       std::to_string(most));
  }
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
  warn_of_missing_ports(log, warnings);
  warn_of_nameless(log, job, warnings);
  if (log.versions.size() > 1) {
    warnings.push_back("ranks run different versions: " +
                       join({log.versions.begin(), log.versions.end()}, ", "));
  }
  if (log.cut_lines > 0) {
    warnings.push_back(std::to_string(log.cut_lines) +
                       " lines are longer than 16384 bytes; "
                       "their ends were not read");
  }
  if (log.left_out > 0) {
    warnings.push_back(std::to_string(log.left_out) +
                       " messages of processes or GPUs above the limit of 65536 were left out");
  }
  return warnings;
}

}  // namespace

NcclJob judge(const NcclLog& log) {
  NcclJob job;
  job.ranks = ranks_of(log);
  job.verdict = verdict_of(job.ranks);
  job.gpu_path = path_of(job.ranks);
  job.why = why_of(log, job);
  job.warnings = warnings_of(log, job);
  return job;
}

}  // namespace railhead::proof
