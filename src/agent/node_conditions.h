// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "agent/context.h"
#include "checks/conditions.h"
#include "kube/client.h"
#include "kube/node_condition.h"
#include "kube/retries.h"
#include "loop/shared.h"

namespace railhead::agent {

struct NodeConditionsOptions {
  std::string node;  ///< its name in Kubernetes
  kube::AccessSource access;
  /// Without a look of the doctor for so long nothing is known any more.
  std::chrono::milliseconds stale_after{0};
  std::chrono::milliseconds look_every{1000};
  /// What has not changed is written again after a look so much later, as node-problem-detector
  /// does (its --k8s-exporter-heartbeat-period).
  std::chrono::milliseconds heartbeat{300000};
  std::chrono::milliseconds shortest_gap{10000};  ///< between two writes
  std::chrono::milliseconds first_retry{1000};    ///< each further one after twice the time
  std::chrono::milliseconds longest_retry{300000};
};

/// Writes what the doctor found into the conditions of the agent's Node: when it has changed, and
/// else as a heartbeat. A condition of which nothing was ever known is not written. What it costs
/// does not depend on the server: one request at a time, the newest look only, and longer and
/// longer pauses after failures. Lives on a thread of its own: it reads files.
class NodeConditions {
 public:
  /// `report` gets what /readyz says of it, whenever that changes.
  NodeConditions(Context context, NodeConditionsOptions options,
                 const loop::Shared<checks::LatestConditions>& seen,
                 std::function<void(std::string)> report);

  /// Looks now, and whenever it is time.
  void start();

 private:
  using Conditions = std::vector<kube::NodeCondition>;

  [[nodiscard]] std::optional<checks::ConditionsSeen> latest() const;
  void look();
  void read(const checks::ConditionsSeen& seen);
  void write(const checks::ConditionsSeen& seen, Conditions conditions);
  [[nodiscard]] Conditions wanted(const checks::ConditionsSeen& seen) const;
  [[nodiscard]] bool is_due(const checks::ConditionsSeen& seen, const Conditions& all) const;
  void failed(const Error& why, std::optional<std::chrono::seconds> asked);

  Context context_;
  NodeConditionsOptions options_;
  const loop::Shared<checks::LatestConditions>& seen_;
  std::function<void(std::string)> report_;
  boost::asio::steady_timer timer_;
  kube::Client client_;
  bool is_asking_ = false;
  /// By type, as the server has them; nothing before they were read, and after a failure.
  std::optional<std::map<std::string, kube::NodeCondition, std::less<>>> there_;
  std::chrono::steady_clock::time_point written_at_{};    ///< last
  std::chrono::steady_clock::time_point written_look_{};  ///< which look that was of
  std::chrono::steady_clock::time_point not_before_{};
  kube::Retries retries_;
  std::string said_;  ///< the failure that the log has
};

}  // namespace railhead::agent
