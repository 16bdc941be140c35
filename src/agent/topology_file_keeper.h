// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "node/node.h"

namespace railhead::agent {

/// Puts the NCCL topology file where containers get it from, and makes sure that the container
/// runtime, which mounts it, means the same file by its path: an agent in a pod may have written
/// into its own file system, and a mount without a source fails every container of the node.
/// Touches files, so it lives on the files thread.
class TopologyFileKeeper {
 public:
  /// `proc_dir`: the procfs in which the runtime has its process id.
  explicit TopologyFileKeeper(std::string proc_dir,
                              std::string own_mountinfo = "/proc/self/mountinfo");

  /// The file is there, with this text, and the runtime sees it. The error says what is wrong and,
  /// where it is the agent's set-up, what to change.
  Status provide(const node::TextFile& file, std::optional<int> runtime_pid) const;

 private:
  [[nodiscard]] Status is_seen_by(int pid, const std::string& path) const;

  std::string proc_dir_;
  std::string own_mountinfo_;
};

}  // namespace railhead::agent
