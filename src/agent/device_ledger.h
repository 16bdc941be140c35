// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kubelet/device_plugin.h"
#include "pools/pools.h"

namespace railhead::agent {

/// How long a device must have been ready before it counts as healthy again. Each change makes the
/// kubelet write its checkpoint and the API server the node's status.
inline constexpr std::chrono::seconds kUntilHealthy{5};

/// How long a device that has gone stays in the list, unhealthy: pods that hold it are still there,
/// and a driver that is loaded again brings it back.
inline constexpr std::chrono::minutes kUntilForgotten{10};

/// How many devices of a list are healthy, and why the others are not.
struct DeviceCounts {
  std::size_t healthy = 0;
  std::size_t not_ready = 0;   ///< the function is there and will not work
  std::size_t recovering = 0;  ///< ready, not yet for kUntilHealthy
  std::size_t gone = 0;        ///< not in the pool any more
};

/// The devices of one pool as the kubelet gets them. What is not ready is unhealthy at once
/// and healthy again after some time; what has gone is unhealthy for some time.
class DeviceLedger {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Takes note of the pool as it is now and returns the whole list, by id.
  std::vector<kubelet::Device> update(const pools::Pool& pool,
                                      const std::vector<pools::NetFunction>& functions,
                                      TimePoint now);

  /// What update() returned last, counted.
  [[nodiscard]] DeviceCounts counts() const;

  /// Begins anew: what is not there now was never there.
  void forget();

  /// Time alone will change the list.
  [[nodiscard]] bool waits() const { return waits_; }

 private:
  struct Known {
    bool healthy = false;
    std::optional<TimePoint> ready_since;  ///< of one that is to be healthy again
    TimePoint seen{};
    bool gone = false;
    std::vector<int> numa_nodes;
  };

  void note(const pools::PoolDevice& device, bool ready, TimePoint now);

  std::map<std::string, Known> known_;
  bool waits_ = false;
};

}  // namespace railhead::agent
