// SPDX-License-Identifier: Apache-2.0
#include "host/process.h"

#include <algorithm>

#include "base/absent.h"
#include "base/text.h"
#include "host/keep.h"

namespace railhead::host {
namespace {

/// TASK_COMM_LEN is 16 with the closing NUL, include/linux/sched.h
constexpr std::size_t kMaxCommBytes = 15;

constexpr std::string_view kMemoryLock = "Max locked memory";

std::optional<std::uint64_t> limit_value(std::string_view word) {
  if (word == "unlimited") return ProcessFacts::kUnlimited;
  return or_absent(parse_unsigned(word));
}

/// "Uid:" real, effective, saved, file system. Source: Documentation/filesystems/proc.rst, status.
void read_status(std::string_view text, ProcessFacts& facts) {
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() < 2) continue;
    if (words[0] == "CapEff:") facts.cap_effective = or_absent(parse_hex(words[1]));
    if (words[0] == "CapBnd:") facts.cap_bounding = or_absent(parse_hex(words[1]));
    if (words[0] == "Uid:" && words.size() > 2) facts.uid = or_absent(parse_unsigned(words[2]));
  }
}

/// "Max locked memory         8388608              8388608              bytes"
void read_limits(std::string_view text, ProcessFacts& facts) {
  for (const auto line : split(text, '\n')) {
    if (!line.starts_with(kMemoryLock)) continue;
    const auto words = split_words(line.substr(kMemoryLock.size()));
    if (words.size() < 2) continue;
    facts.memlock_soft_bytes = limit_value(words[0]);
    facts.memlock_hard_bytes = limit_value(words[1]);
  }
}

std::string kept_status(std::string_view content) {
  return keep_lines_if(content, [](std::string_view line) {
    const auto words = split_words(line);
    return words.size() > 1 &&
           (words[0] == "CapEff:" || words[0] == "CapBnd:" || words[0] == "Uid:");
  });
}

std::string kept_limits(std::string_view content) {
  return keep_lines_if(content,
                       [](std::string_view line) { return line.starts_with(kMemoryLock); });
}

}  // namespace

Result<std::optional<ProcessFacts>> read_process(Host& host, const std::string& proc_dir, int pid) {
  const std::string folder = proc_dir + "/" + std::to_string(pid);
  const auto status = TRY(host.read_keeping(folder + "/status", kept_status));
  const auto limits = TRY(host.read_keeping(folder + "/limits", kept_limits));
  if (!status && !limits) return std::optional<ProcessFacts>();
  ProcessFacts facts;
  if (status) read_status(*status, facts);
  if (limits) read_limits(*limits, facts);
  return std::optional(facts);
}

Result<std::vector<int>> find_processes(Host& host, const std::string& proc_dir,
                                        std::string_view name) {
  std::vector<int> found;
  const auto entries = TRY(host.list(proc_dir));
  if (!entries) return Error{ErrorCode::unavailable, proc_dir + ": no such directory"};
  for (const auto& entry : *entries) {
    const auto pid = parse_unsigned(entry);
    if (!pid || *pid > 0x7fffffff) continue;
    const auto comm = host.read(proc_dir + "/" + entry + "/comm");
    if (!comm && comm.error().code != ErrorCode::denied) return comm.error();
    if (!comm || !*comm) continue;  // hidden from us, or ended
    if (trim(**comm) == name.substr(0, kMaxCommBytes)) found.push_back(static_cast<int>(*pid));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace railhead::host
