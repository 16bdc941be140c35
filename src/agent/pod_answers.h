// SPDX-License-Identifier: Apache-2.0
// What the kubelet said of pods.
//
// Why an answer can be kept
// * The kubelet gives a pod its devices at admission, those of all its containers, restartable init
//   containers included, and runs no sandbox of a pod that it did not admit (kubelet.go,
//   HandlePodAdditions; cm/topologymanager/scope.go). They stay the pod's, by UID, until it has
//   ended: a container that starts again finds them ("Found pre-allocated devices",
//   cm/devicemanager/manager.go), and so does one in a sandbox that is made again.
// * The question has the pod's name, not its UID, whenever it is asked.
//   A successor of that name has another UID, a sandbox of its own, and with
//   it an answer of its own.
// * A resize cannot change them: "only cpu and memory resources are mutable" (validation.go). What
//   DRA has prepared is not among the devices that we read; it is prepared before the sandbox, too
//   (kuberuntime_manager.go, PrepareDynamicResources).
// * One case adds to them later: a resource that nobody offered at admission and somebody offers
//   when the container is made (GetDeviceRunContainerOptions, "Needs to re-allocate"). A kept
//   answer then has less than the container's variables name. So does one for an init container
//   that ends, or an ephemeral one, which are not listed at all. Whoever uses a kept answer asks
//   anew where it and the container do not agree (ContainerHooks).
// Read in Kubernetes 1.26.15, 1.30.14 and 1.36.3, pkg/kubelet and pkg/apis/core/validation.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "container/holdings.h"
#include "host/clock.h"

namespace railhead::agent {

/// How long an answer of the kubelet serves the pod's containers, which are created one after
/// another. Pulling an image may take longer: then the kubelet is asked again.
inline constexpr std::chrono::seconds kAnswerLife{30};
inline constexpr std::size_t kMostAnswers = 256;
inline constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 20;

/// Answers by the pod's UID: a pod of the same name that comes later is another one. An answer
/// serves each container of its pod once; one that is created again is asked for.
class PodAnswers {
 public:
  explicit PodAnswers(host::Clock& clock)
      : clock_(clock) {}

  /// The answer for this container, valid until the next call; null: ask.
  const container::PodHoldings* find(std::string_view pod_uid, std::string_view container);

  /// Keeps an answer, in place of one that there was. The oldest go where there are too many, and
  /// one that is too large by itself is not kept.
  void keep(std::string_view pod_uid, container::PodHoldings holdings);

  /// The same of an answer that was given for this container.
  void keep(std::string_view pod_uid, std::string_view container, container::PodHoldings holdings);

  void forget(std::string_view pod_uid);

  [[nodiscard]] std::size_t size() const { return answers_.size(); }

 private:
  struct Answer {
    container::PodHoldings holdings;
    std::chrono::steady_clock::time_point ends_at{};
    std::size_t bytes = 0;
    std::set<std::string, std::less<>> served;
  };

  using Answers = std::map<std::string, Answer, std::less<>>;

  void forget_old();
  void erase(Answers::iterator at);

  host::Clock& clock_;
  Answers answers_;
  std::size_t bytes_ = 0;  ///< of all answers
  /// In the order in which they were kept, which is that of their ends. One that was replaced or
  /// has served is here until its end.
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::string>> ends_;
};

}  // namespace railhead::agent
