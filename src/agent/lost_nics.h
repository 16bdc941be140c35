// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/container_cache.h"
#include "agent/log.h"
#include "inject/decide.h"

namespace railhead::agent {

/// Names the containers whose NIC went away under them: its driver was removed, or it was
/// unplugged. What they had open of it is dead, and their nodes may be another NIC's later.
class LostNics {
 public:
  LostNics(ContainerCache& containers, Log& log)
      : containers_(containers),
        log_(log) {}

  /// Logs each NIC that `now` has not, or has with other nodes, and who held it. A NIC that is in a
  /// pod's namespace, or goes there, loses nothing.
  void look(std::shared_ptr<const inject::DecisionTable> now);

 private:
  ContainerCache& containers_;
  Log& log_;
  std::shared_ptr<const inject::DecisionTable> before_;
};

}  // namespace railhead::agent
