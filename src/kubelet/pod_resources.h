// SPDX-License-Identifier: Apache-2.0
// What the kubelet says of its pods and devices: its PodResources service.
//
// Invariants
// * One connection is kept for as long as the kubelet's socket is the same file.
// * One thread of ours looks at the socket and serves all questions. It is started by the first
//   question, and gRPC is by the first kubelet.
// * A question is tried again inside its time where the kubelet limits its requests, and for 2 s
//   after a connection that had answered was lost; one for all pods as long as there is time.
// * At most 32 questions are with the kubelet at once, the others wait within their time: one that
//   was stopped reads nothing, and its socket never fills.
// * There is no kubelet only where its socket is absent or refuses a connection, and nobody has
//   listened there since the agent's start: a container's environment is trusted then. Our own look
//   at the socket says so, never gRPC, whose UNAVAILABLE has many other reasons.
// * A kubelet that was there and has gone stays one that gives no answer, for as long as the agent
//   runs. Its containers are created again while it restarts, and how long that takes nobody knows.
//   Where a kubelet is removed for good, the agent that it ran goes with it; one that the system
//   runs has to be restarted.
// * Where there is no kubelet, that is known for 100 ms: a question in that time costs no call of
//   the system.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/holdings.h"
#include "loop/mailbox.h"

namespace railhead::kubelet {

/// Errors of every question: `unavailable` where there is no kubelet, and only there; `timeout`
/// where there is one, or may be, and no answer came, whatever the reason (it breaks off, it has
/// gone, this process lacks a descriptor); `too_large` for an answer above 16 MiB and where the
/// kubelet limits its requests (100 a second, 10 at once) until the end, `unsupported`, `malformed`
/// with the kubelet's words for the rest.
class PodResources {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  /// `socket` is pod-resources/kubelet.sock in the kubelet's root folder. `done` of every question
  /// is called once, on the mailbox's thread.
  PodResources(std::string socket, loop::Mailbox& mailbox);
  PodResources(const PodResources&) = delete;
  PodResources& operator=(const PodResources&) = delete;
  /// On the mailbox's thread. Cancels what is under way, calls nothing any more, and returns within
  /// a second whatever the kubelet does.
  ~PodResources();

  /// The error of a question that was asked now, where it is known that nobody listens; absent:
  /// ask. Costs no call of the system.
  [[nodiscard]] std::optional<ErrorCode> asked_in_vain() const;

  /// What a pod's containers hold. Kubelets without the Get call (before 1.34) are asked for all
  /// pods, within the same time; a pod that is not known holds nothing. On the mailbox's
  /// thread: where nobody listens, `done` is called before this returns.
  void pod(const std::string& pod_namespace, const std::string& name,
           std::chrono::milliseconds timeout, Done<container::PodHoldings> done);

  /// The holdings of all pods, in one answer; devices of claims stand under the name of their
  /// driver, which has no slash as that of a resource has. On the mailbox's thread, as pod(). A
  /// kubelet that breaks off or has gone is asked until `timeout`; only `unavailable` comes before.
  void all(std::chrono::milliseconds timeout, Done<std::vector<container::PodHoldings>> done);

  /// What the kubelet believes that the node's plugins offer. From any thread; `done` is never
  /// called before this returns.
  void allocatable(std::chrono::milliseconds timeout, Done<std::vector<container::Holding>> done);

 private:
  class Worker;
  std::shared_ptr<Worker> worker_;
};

/// One question for all, for a thread that may wait; the errors are those of PodResources.
Result<std::vector<container::PodHoldings>> ask_for_all(const std::string& socket,
                                                        std::chrono::milliseconds timeout);

}  // namespace railhead::kubelet
