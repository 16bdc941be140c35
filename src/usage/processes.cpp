// SPDX-License-Identifier: Apache-2.0
#include "usage/processes.h"

#include <algorithm>

#include "base/text.h"
#include "host/keep.h"

namespace railhead::usage {
namespace {

constexpr std::size_t kMaxProcesses = 32768;  // of containers

std::optional<std::uint32_t> parse_pid(std::string_view text) {
  const auto number = parse_unsigned(text);
  if (!number || *number == 0 || *number > 0x7fffffff) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

bool is_pid(std::string_view name) {
  return parse_pid(name).has_value();
}

std::string folder_of(const std::string& proc_dir, std::uint32_t id) {
  return proc_dir + "/" + std::to_string(id);
}

/// Of the lines one that names the container as all do.
std::string kept_cgroup(std::string_view content) {
  const auto all = container_of_cgroup(content);
  if (!all) return content.empty() ? "" : "0::/\n";
  for (const auto line : split(content, '\n')) {
    const auto path = line.substr(std::min(line.rfind(':'), line.size()));
    auto kept = "0:" + std::string(path) + "\n";
    if (container_of_cgroup(kept) == all) return kept;
  }
  return std::string(content);
}

/// The name, and what parse_stat() reads.
std::string kept_stat(std::string_view content) {
  const auto process = parse_stat(content);
  if (!process) return content.empty() ? "" : "?\n";
  constexpr std::string_view kBetween = " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ";
  return "0 (" + process->name + ") " + (process->leaderless ? "Z " : "S ") +
         std::to_string(process->parent) + std::string(kBetween) +
         (process->leaderless ? "2 0 " : "1 0 ") + std::to_string(process->start_ticks) + "\n";
}

std::string kept_status(std::string_view content) {
  return host::keep_lines_if(content,
                             [](std::string_view line) { return line.starts_with("Tgid:"); });
}

std::optional<std::uint32_t> thread_group(std::string_view status) {
  constexpr std::string_view kLabel = "Tgid:";
  for (const auto line : split(status, '\n')) {
    if (line.starts_with(kLabel)) return parse_pid(trim(line.substr(kLabel.size())));
  }
  return std::nullopt;
}

Result<std::optional<ContainerPlace>> read_place(host::Host& host, const std::string& folder) {
  const auto text = TRY(host.read_keeping(folder + "/cgroup", kept_cgroup));
  return text ? container_of_cgroup(*text) : std::nullopt;
}

/// The container first: of most processes nothing else is asked.
void add_process(host::Host& host, const std::string& proc_dir, std::uint32_t id,
                 ProcessTable& table) {
  const auto folder = folder_of(proc_dir, id);
  const auto cgroup = host.read_keeping(folder + "/cgroup", kept_cgroup);
  if (!cgroup) table.doubt = cgroup.error().message;
  auto place = cgroup && *cgroup ? container_of_cgroup(**cgroup) : std::nullopt;
  if (!cgroup || (*cgroup && !place)) return;
  const auto stat = host.read_keeping(folder + "/stat", kept_stat);
  if (!stat) table.doubt = stat.error().message;
  auto process = stat && *stat ? parse_stat(**stat) : std::nullopt;
  if (!process) return;  // it has ended
  if (!place) {
    table.doubt = folder + " has no cgroup";
    return;
  }
  process->id = id;
  process->process = id;
  process->place = std::move(place);
  table.by_id.emplace(id, *std::move(process));
}

}  // namespace

std::optional<ProcessUse> parse_stat(std::string_view text) {
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  // Behind the name, from 0: state, ppid, …; field 22 of proc(5) is the start time.
  constexpr std::size_t kState = 0;
  constexpr std::size_t kParent = 1;
  constexpr std::size_t kThreads = 17;
  constexpr std::size_t kStart = 19;
  const auto words = split_words(text.substr(close + 1));
  if (words.size() <= kStart) return std::nullopt;
  const auto parent = parse_unsigned(words[kParent]);
  const auto start = parse_unsigned(words[kStart]);
  if (!parent || !start || *parent > 0x7fffffff) return std::nullopt;
  ProcessUse process;
  process.name = text.substr(open + 1, close - open - 1);
  process.parent = static_cast<std::uint32_t>(*parent);
  process.start_ticks = *start;
  process.leaderless = words[kState] == "Z" && parse_unsigned(words[kThreads]).value_or(0) > 1;
  return process;
}

std::optional<std::uint64_t> parse_uptime(std::string_view text) {
  const auto words = split_words(text);
  if (words.empty()) return std::nullopt;
  const auto parts = split(words[0], '.');
  if (parts.size() != 2 || parts[1].size() != 2) return std::nullopt;
  const auto seconds = parse_unsigned(parts[0]);
  const auto hundredths = parse_unsigned(parts[1]);
  if (!seconds || !hundredths || *seconds > 1'000'000'000'000) return std::nullopt;
  return *seconds * 100 + *hundredths;
}

bool is_still(host::Host& host, const std::string& proc_dir, const ProcessTable& table,
              std::uint32_t id) {
  const auto known = table.by_id.find(id);
  if (known == table.by_id.end()) return true;
  const auto stat = host.read_keeping(folder_of(proc_dir, id) + "/stat", kept_stat);
  const auto now = stat && *stat ? parse_stat(**stat) : std::nullopt;
  return now && now->start_ticks == known->second.start_ticks;
}

Result<std::optional<ProcessUse>> read_process_use(host::Host& host, const std::string& proc_dir,
                                                   std::uint32_t id) {
  const auto folder = folder_of(proc_dir, id);
  const auto stat = TRY(host.read_keeping(folder + "/stat", kept_stat));
  auto process = stat ? parse_stat(*stat) : std::nullopt;
  if (!process) return std::optional<ProcessUse>();
  const auto status = TRY(host.read_keeping(folder + "/status", kept_status));
  process->id = id;
  process->process = (status ? thread_group(*status) : std::nullopt).value_or(id);
  process->place = TRY(read_place(host, folder));
  return process;
}

Result<ProcessTable> read_processes(host::Host& host, const std::string& proc_dir,
                                    const std::set<std::uint32_t>& threads) {
  ProcessTable table;
  const auto names = TRY(host.list_keeping(proc_dir, is_pid));
  if (!names) return Error{ErrorCode::unavailable, proc_dir + ": no such directory"};
  for (const auto& name : *names) {
    const auto id = parse_pid(name);
    if (!id || threads.contains(*id)) continue;
    if (table.by_id.size() == kMaxProcesses) {
      table.doubt = "more than " + std::to_string(kMaxProcesses) + " processes are in containers";
      break;
    }
    add_process(host, proc_dir, *id, table);
  }
  for (const auto id : threads) {
    auto thread = read_process_use(host, proc_dir, id);
    if (!thread) table.doubt = thread.error().message;
    if (thread && *thread) table.by_id.emplace(id, **std::move(thread));
  }
  return table;
}

}  // namespace railhead::usage
