// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "checks/machine.h"
#include "config/config.h"
#include "host/clock.h"
#include "node/node.h"

namespace railhead::cli {

/// Which containers `railhead doctor` is to look at.
struct PodTarget {
  std::string pod;  ///< "NAMESPACE/NAME"; "" for none
  int pid = 0;      ///< 0 for none

  [[nodiscard]] bool any() const { return !pod.empty() || pid != 0; }
};

/// Adds them and their use of RDMA as they are now: below host.proc of the machine, or, where the
/// node is a snapshot, of this one. Nothing more is read after `limit`. Fails where there is no
/// such pod or process.
Status add_containers(const PodTarget& target, const config::Config& config, const node::Node& node,
                      host::Clock& clock, std::chrono::milliseconds limit, checks::MoreFacts& into);

}  // namespace railhead::cli
