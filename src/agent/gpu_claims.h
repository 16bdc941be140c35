// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/pod_answers.h"
#include "host/clock.h"
#include "inject/decide.h"
#include "kubelet/pod_resources.h"
#include "loop/mailbox.h"

namespace railhead {

/// What the kubelet's answer says: a pod holds GPUs if a device id names a GPU of this node, or the
/// resource matches one of the shell patterns in `resources`. No socket, or nobody behind it, is
/// `no_kubelet`; every other failure is `unanswered`.
GpuClaim claim_in(const Result<kubelet::PodHoldings>& holdings, const DecisionTable& table,
                  const std::vector<std::string>& resources);

/// The claim of a pod, by namespace and name.
using ClaimOfPod = std::function<GpuClaim(std::string_view, std::string_view)>;

/// Asks the kubelet whether a pod that names GPUs in its environment holds any.
class GpuClaims {
 public:
  using Done = std::function<void(GpuClaim)>;

  GpuClaims(std::string socket, std::vector<std::string> resources, Mailbox& mailbox, Clock& clock);
  GpuClaims(const GpuClaims&) = delete;
  GpuClaims& operator=(const GpuClaims&) = delete;
  ~GpuClaims() = default;

  void set_resources(std::vector<std::string> patterns) { resources_ = std::move(patterns); }

  /// `done` is called once: at once where the answer is known or nobody listened a moment ago, else
  /// within `timeout`.
  void ask(const ContainerRequest& request, std::shared_ptr<const DecisionTable> table,
           std::chrono::milliseconds timeout, Done done);

  /// The same for every pod of the node, by one call; an error says why nobody knows.
  void ask_all(std::shared_ptr<const DecisionTable> table, std::chrono::milliseconds timeout,
               std::function<void(Result<ClaimOfPod>)> done);

 private:
  std::vector<std::string> resources_;
  PodAnswers answers_;
  kubelet::PodResources pod_resources_;
};

}  // namespace railhead
