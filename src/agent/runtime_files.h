// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/context.h"
#include "agent/table_feed.h"
#include "agent/topology_file_keeper.h"
#include "loop/watch_loop.h"

namespace railhead {

/// Keeps the NCCL topology file that belongs to the newest table where the connected runtime sees
/// it. Lives on the files thread.
class RuntimeFiles {
 public:
  using Table = TableFeed::Table;
  /// The table whose topology file containers may be given; null: none.
  using Provided = std::function<void(Table)>;

  RuntimeFiles(Context context, TopologyFileKeeper keeper, const TableFeed& tables,
               Provided provided);

  /// The runtime's process, as far as it is known.
  void set_runtime(std::optional<int> pid);

  /// There is a newer table, or the file is to be looked at again.
  void look();

 private:
  Context context_;
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
