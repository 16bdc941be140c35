// SPDX-License-Identifier: Apache-2.0
#include "agent/runtime_process.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "host/process.h"
#include "nri/capability.h"

namespace railhead::agent {
namespace {

/// CAP_SYS_RESOURCE, include/uapi/linux/capability.h
constexpr unsigned kCapSysResource = 24;

RuntimeProcess in_doubt(std::string why) {
  RuntimeProcess process;
  process.why = std::move(why);
  return process;
}

RuntimeProcess not_now(const Error& error) {
  auto process = in_doubt(error.message);
  process.may_be_read_later = true;
  return process;
}

RuntimeProcess read_one(host::Host& live, const std::string& proc_dir, int pid) {
  const auto facts = host::read_process(live, proc_dir, pid);
  if (!facts) return not_now(facts.error());
  if (!*facts) return in_doubt("process " + std::to_string(pid) + " is gone");
  const auto& found = **facts;
  if (!found.cap_effective) {
    return in_doubt("process " + std::to_string(pid) + " does not show its capabilities");
  }
  RuntimeProcess process;
  process.in_doubt = false;
  process.pid = pid;
  process.cap_effective = found.cap_effective;
  process.memlock_soft_bytes = found.memlock_soft_bytes;
  process.memlock_hard_bytes = found.memlock_hard_bytes;
  return process;
}

/// Where a process of the runtime's name lives.
struct Candidate {
  int pid = 0;
  bool in_pod = false;
  bool root = false;
};

/// Absent where it is gone. "Uid:" real, effective, saved, file system; "NSpid:" one number for
/// each PID namespace from that of procfs down. Source: Documentation/filesystems/proc.rst, status.
Result<std::optional<Candidate>> candidate_of(host::Host& live, const std::string& proc_dir,
                                              int pid) {
  Candidate candidate{pid};
  const std::string folder = proc_dir + "/" + std::to_string(pid);
  const auto status = TRY(live.read(folder + "/status"));
  if (!status) return std::optional<Candidate>();
  for (const auto line : split(*status, '\n')) {
    const auto words = split_words(line);
    if (words.size() < 2) continue;
    if (words[0] == "Uid:") candidate.root = words[1] == "0";
    if (words[0] == "NSpid:") candidate.in_pod = words.size() > 2;
  }
  const auto cgroup = TRY(live.read(folder + "/cgroup"));
  if (cgroup && cgroup->find("kubepods") != std::string::npos) candidate.in_pod = true;
  return std::optional(candidate);
}

Result<std::vector<int>> likely(host::Host& live, const std::string& proc_dir,
                                const std::vector<int>& named) {
  std::vector<Candidate> candidates;
  for (const int pid : named) {
    const auto candidate = TRY(candidate_of(live, proc_dir, pid));
    if (candidate && !candidate->in_pod) candidates.push_back(*candidate);
  }
  const bool any_root =
      std::ranges::any_of(candidates, [](const Candidate& one) { return one.root; });
  std::vector<int> out;
  for (const auto& one : candidates) {
    if (one.root || !any_root) out.push_back(one.pid);
  }
  return out;
}

void lower(std::optional<std::uint64_t>& limit, const std::optional<std::uint64_t>& other) {
  if (other) limit = std::min(limit.value_or(*other), *other);
}

RuntimeProcess lowest_of(host::Host& live, const std::string& proc_dir,
                         const std::vector<int>& pids) {
  auto all = read_one(live, proc_dir, pids.front());
  for (std::size_t i = 1; i < pids.size(); ++i) {
    const auto one = read_one(live, proc_dir, pids[i]);
    all.in_doubt = all.in_doubt || one.in_doubt;
    all.may_be_read_later = all.may_be_read_later || one.may_be_read_later;
    all.cap_effective = all.cap_effective.value_or(0) & one.cap_effective.value_or(0);
    lower(all.memlock_soft_bytes, one.memlock_soft_bytes);
    lower(all.memlock_hard_bytes, one.memlock_hard_bytes);
  }
  return all;
}

}  // namespace

RuntimeProcess read_runtime(const nri::RuntimePeer& peer, host::Host& live,
                            const std::string& proc_dir) {
  if (peer.pid) return read_one(live, proc_dir, *peer.pid);
  const auto name = peer.name == "cri-o" ? std::string("crio") : peer.name;
  const auto named = host::find_processes(live, proc_dir, name);
  if (!named) return not_now(named.error());
  const auto found = likely(live, proc_dir, *named);
  if (!found) return not_now(found.error());
  const auto& pids = *found;
  if (pids.empty()) {
    RuntimeProcess process;
    process.in_doubt = false;
    process.why =
        "no process named " + in_quotes(name) + " below " + proc_dir +
        ": it is asked for memlock as configured, and a container fails where it cannot set "
        "that; show the host's processes (hostPID, --host-proc) or lower --memlock-cap";
    return process;
  }
  auto process = lowest_of(live, proc_dir, pids);
  if (pids.size() > 1) {
    process.pid.reset();
    process.why = std::to_string(pids.size()) + " processes named " + in_quotes(name) + " below " +
                  proc_dir + ": the lowest of their limits counts";
  }
  // The others may be forks of it or commands of its program, which are gone in a moment.
  process.may_be_read_later = process.may_be_read_later || process.in_doubt || pids.size() > 1;
  return process;
}

inject::RuntimeAbility ability_of(const nri::RuntimePeer& peer, const RuntimeProcess& process) {
  inject::RuntimeAbility ability;
  ability.name = peer.name;
  ability.version = peer.version;
  ability.rlimits = nri::features_of(peer.name, peer.version).rlimits;
  ability.memlock_in_doubt = process.in_doubt;
  ability.memlock_inherited = process.memlock_soft_bytes;
  if (process.cap_effective && ((*process.cap_effective >> kCapSysResource) & 1U) != 0) {
    ability.memlock_ceiling = container::kUnlimited;
  } else if (process.cap_effective) {
    ability.memlock_ceiling = process.memlock_hard_bytes;
  }
  return ability;
}

}  // namespace railhead::agent
