// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "agent/pod_answers.h"
#include "base/result.h"
#include "container/request.h"
#include "host/clock.h"
#include "inject/kubelet_answer.h"
#include "kubelet/pod_resources.h"

namespace railhead::agent {

/// What the kubelet says of containers. Both answer once, on the loop, within the time given.
class KubeletAnswers {
 public:
  KubeletAnswers() = default;
  KubeletAnswers(const KubeletAnswers&) = delete;
  KubeletAnswers& operator=(const KubeletAnswers&) = delete;
  virtual ~KubeletAnswers() = default;

  /// Asks about one container. Takes what it needs from the request before it returns.
  virtual void ask(const container::Request& request,
                   std::shared_ptr<const inject::DecisionTable> table,
                   std::chrono::milliseconds timeout,
                   std::function<void(inject::KubeletAnswer)> done) = 0;

  /// Asks about all pods of the node; an error says why there is no answer.
  virtual void ask_all(std::chrono::milliseconds timeout,
                       std::function<void(Result<std::vector<container::PodHoldings>>)> done) = 0;
};

/// Asks PodResources which GPUs a container holds, where only its environment or its mounts name
/// any.
class GpuClaims : public KubeletAnswers {
 public:
  /// `resources` has to live as long.
  GpuClaims(kubelet::PodResources& resources, host::Clock& clock);

  /// At once where the answer is known or nobody listens.
  void ask(const container::Request& request, std::shared_ptr<const inject::DecisionTable> table,
           std::chrono::milliseconds timeout,
           std::function<void(inject::KubeletAnswer)> done) override;
  void ask_all(std::chrono::milliseconds timeout,
               std::function<void(Result<std::vector<container::PodHoldings>>)> done) override;

 private:
  kubelet::PodResources& resources_;
  PodAnswers answers_;
};

}  // namespace railhead::agent
