// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "agent/table_feed.h"
#include "agent/topology_file_keeper.h"
#include "loop/watch_loop.h"

namespace railhead::agent {

/// Keeps the NCCL topology file that belongs to the newest table where the connected runtime sees
/// it. Lives on the files thread.
class RuntimeFiles {
 public:
  using Table = TableFeed::Table;
  /// The table whose topology file containers may be given; null: none.
  using Provided = std::function<void(Table)>;

  /// `proc_dir`: the host's procfs.
  RuntimeFiles(Context context, std::string proc_dir, const TableFeed& tables, Provided provided);

  /// A runtime has connected, whose process is this one; absent: it is not known which.
  void runtime_connected(std::optional<int> pid);

  /// There is a newer table, or the file is to be looked at again.
  void look();

 private:
  void watch(const std::string& path);
  void folder_changed();

  Context context_;
  TopologyFileKeeper keeper_;
  const TableFeed& tables_;
  Provided provided_;
  bool is_connected_ = false;
  std::optional<int> pid_;
  std::string error_;  ///< the last one that was logged
  std::string folder_;
  bool is_resting_ = false;
  bool changed_again_ = false;
  boost::asio::steady_timer rest_;
  boost::asio::steady_timer again_;       ///< while something failed that no event tells of
  std::optional<loop::WatchLoop> watch_;  ///< of the folder: somebody may clean it up
};

}  // namespace railhead::agent
