// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/context.h"
#include "agent/runtime_process.h"
#include "agent/table_feed.h"
#include "agent/topology_file_keeper.h"
#include "loop/watch_loop.h"

namespace railhead {

/// Reads what the connected runtime may do, and keeps the NCCL topology file that belongs to the
/// newest table where it sees it. Lives on the files thread.
class RuntimeFiles {
 public:
  using Table = TableFeed::Table;
  /// The table whose topology file containers may be given; null: none.
  using Provided = std::function<void(Table)>;

  /// `proc_dir`: the host's procfs.
  RuntimeFiles(Context context, std::string proc_dir, const TableFeed& tables, Provided provided);

  /// A runtime has connected: what its process may do.
  RuntimeProcess runtime_connected(const nri::RuntimePeer& peer);

  /// There is a newer table, or the file is to be looked at again.
  void look();

 private:
  Context context_;
  std::string proc_dir_;
  TopologyFileKeeper keeper_;
  const TableFeed& tables_;
  Provided provided_;
  bool is_connected_ = false;
  std::optional<int> pid_;
  void watch(const std::string& path);

  std::string error_;  ///< the last one that was logged
  std::string folder_;
  std::optional<WatchLoop> watch_;  ///< of the folder: somebody may clean it up
};

}  // namespace railhead
