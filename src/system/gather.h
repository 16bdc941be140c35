// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "host/host.h"
#include "host/keep.h"
#include "node/node.h"
#include "system/system.h"

namespace railhead::system {

/// What the readers of parts share: where to ask, and where to put what was found.
struct Gather {
  host::Host& host;
  const node::Node& node;
  System& into;

  /// A small file, into System::texts: what `keep` leaves of it, so that a recorded machine gives
  /// the same evidence.
  const Text& text(const std::string& path, host::Keep keep = host::keep_line) const;
  /// A directory's names, into System::folders.
  const Fact<std::vector<std::string>>& folder(const std::string& path, host::KeepName keep) const;
  /// A directory's names and the text of every file that ends with ".conf".
  void folder_with_texts(const std::string& path, host::Keep keep) const;
};

void read_modules(const Gather& gather);
void read_kernel(const Gather& gather);
void read_services(const Gather& gather);
void read_runtime(const Gather& gather);
void read_pci_config(const Gather& gather);
void read_netdevs(const Gather& gather);
void read_gpu_driver(const Gather& gather);
void read_nfs(const Gather& gather);
void read_counters(const Gather& gather);
void read_kernel_log(const Gather& gather);

/// The lines of /dev/kmsg, or of a text without its prefixes. At most kMaxLogLines, the newest.
std::vector<LogLine> parse_kernel_log(std::string_view text);

inline constexpr std::size_t kMaxLogLines = 20000;

}  // namespace railhead::system
