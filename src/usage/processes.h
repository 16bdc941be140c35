// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "host/host.h"
#include "usage/cgroup.h"

namespace railhead::usage {

/// A process that is in a container, or a thread that made an RDMA object.
struct ProcessUse {
  std::uint32_t id = 0;       ///< PID, or of a thread its TID
  std::uint32_t process = 0;  ///< of a thread its process; else the same
  std::uint32_t parent = 0;
  std::string name;
  std::uint64_t start_ticks = 0;  ///< since boot, in 1/100 s (USER_HZ)
  /// Its first thread has ended and others have not: /proc/PID shows none of their files then.
  bool leaderless = false;
  std::optional<ContainerPlace> place;

  friend bool operator==(const ProcessUse&, const ProcessUse&) = default;
};

struct ProcessTable {
  std::map<std::uint32_t, ProcessUse> by_id;
  /// Why there may be more: /proc hides some, or has more than we look at; "": that is all.
  std::string doubt;
};

/// Every process of a container, and these threads wherever they are. One that ends meanwhile is
/// not there. Fails where the folder cannot be listed.
Result<ProcessTable> read_processes(host::Host& host, const std::string& proc_dir,
                                    const std::set<std::uint32_t>& threads);

/// One process or thread; absent where it has ended.
Result<std::optional<ProcessUse>> read_process_use(host::Host& host, const std::string& proc_dir,
                                                   std::uint32_t id);

/// Whether the number is still that process's, by when it began. What was read below /proc/PID
/// before is its own then: the number of a process that ends may be given to any other. True of one
/// that the table has not.
bool is_still(host::Host& host, const std::string& proc_dir, const ProcessTable& table,
              std::uint32_t id);

/// Name, parent, start and whether it is leaderless, of the text of /proc/PID/stat. The name may
/// hold anything, parentheses and spaces included: the last ')' ends it (proc(5)).
std::optional<ProcessUse> parse_stat(std::string_view text);

/// Since boot, in 1/100 s, of the text of /proc/uptime.
std::optional<std::uint64_t> parse_uptime(std::string_view text);

}  // namespace railhead::usage
