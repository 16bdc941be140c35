// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "checks/machine.h"
#include "config/config.h"
#include "host/clock.h"
#include "host/hang_watch.h"
#include "node/node.h"

namespace railhead::cli {

/// Which containers `railhead doctor` is to look at.
struct PodTarget {
  std::string pod;  ///< "NAMESPACE/NAME"; "" for none
  int pid = 0;      ///< 0 for none

  [[nodiscard]] bool any() const { return !pod.empty() || pid != 0; }
};

/// How long may be read, and what is read.
struct ReadingTime {
  host::Clock& clock;
  std::chrono::milliseconds limit;
  host::ReadingNow& now;
};

/// Adds them and their use of RDMA as they are now: below host.proc of the machine, or, where the
/// node is a snapshot, of this one. Nothing more is read after the limit. Fails where there is no
/// such pod or process.
Status add_containers(const PodTarget& target, const config::Config& config, const node::Node& node,
                      const ReadingTime& time, checks::MoreFacts& into);

}  // namespace railhead::cli
