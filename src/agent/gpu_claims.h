// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/pod_answers.h"
#include "base/result.h"
#include "container/request.h"
#include "host/clock.h"
#include "inject/kubelet_answer.h"
#include "kubelet/pod_resources.h"

namespace railhead::agent {

/// What the kubelet says of containers. Both questions are answered once, on the loop, within the
/// time given.
class KubeletAnswers {
 public:
  KubeletAnswers() = default;
  KubeletAnswers(const KubeletAnswers&) = delete;
  KubeletAnswers& operator=(const KubeletAnswers&) = delete;
  virtual ~KubeletAnswers() = default;

  /// The answer about one container, where nobody has to be asked for it; absent: ask. A kept
  /// answer is given to each container once.
  virtual std::optional<inject::KubeletAnswer> known(const container::Request& request,
                                                     const inject::DecisionTable& table) = 0;

  /// Asks about one container. Takes what it needs from the request before it returns.
  virtual void ask(const container::Request& request,
                   std::shared_ptr<const inject::DecisionTable> table,
                   std::chrono::milliseconds timeout,
                   std::function<void(inject::KubeletAnswer)> done) = 0;

  /// This pod's containers come next: asks ahead, so that their answer may be there.
  virtual void expect(const container::Request& /*pod*/, std::chrono::milliseconds /*timeout*/) {}

  /// What was kept of this pod is not to be used any more.
  virtual void forget(std::string_view /*pod_uid*/) {}

  /// Asks about all pods of the node; an error says why there is no answer.
  virtual void ask_all(std::chrono::milliseconds timeout,
                       std::function<void(Result<std::vector<container::PodHoldings>>)> done) = 0;
};

/// How many pods are asked for ahead at once. The kubelet answers ten questions at once and a
/// hundred a second, and a container that waits goes before one that may come.
inline constexpr std::size_t kMostAhead = 4;

/// Asks PodResources which GPUs a container holds, where only its environment or its mounts name
/// any.
///
/// A question wakes several threads, and the runtime waits meanwhile. What a pod holds is settled
/// before its sandbox runs (pod_answers.h), so the pod is asked for then, and its containers find
/// the answer or wait for it. A container asks itself where that one failed or is not there.
/// Nothing is asked ahead until the kubelet has answered a container that asked itself: where
/// device nodes and CDI names tell the GPUs, or where there is no kubelet, this costs nothing.
class GpuClaims : public KubeletAnswers {
 public:
  /// `resources` has to live as long.
  GpuClaims(kubelet::PodResources& resources, host::Clock& clock);

  /// Known is what was asked for ahead, and that nobody listens.
  std::optional<inject::KubeletAnswer> known(const container::Request& request,
                                             const inject::DecisionTable& table) override;
  void ask(const container::Request& request, std::shared_ptr<const inject::DecisionTable> table,
           std::chrono::milliseconds timeout,
           std::function<void(inject::KubeletAnswer)> done) override;
  void expect(const container::Request& pod, std::chrono::milliseconds timeout) override;

  void forget(std::string_view pod_uid) override { answers_.forget(pod_uid); }

  void ask_all(std::chrono::milliseconds timeout,
               std::function<void(Result<std::vector<container::PodHoldings>>)> done) override;

 private:
  /// A container that waits for its answer.
  struct Waiter {
    std::string pod_namespace;
    std::string pod;
    std::string pod_uid;
    std::string name;
    std::shared_ptr<const inject::DecisionTable> table;
    std::chrono::steady_clock::time_point end;
    std::function<void(inject::KubeletAnswer)> done;
  };

  std::optional<inject::KubeletAnswer> kept(std::string_view pod_uid, std::string_view name,
                                            const inject::DecisionTable& table);
  void ask_now(Waiter waiter);

  kubelet::PodResources& resources_;
  host::Clock& clock_;
  PodAnswers answers_;
  bool has_answered_ = false;  ///< the kubelet, to a container that asked itself
  /// Pods that are asked for ahead, by UID, and their containers that wait for it.
  std::map<std::string, std::vector<Waiter>, std::less<>> ahead_;
};

}  // namespace railhead::agent
