// SPDX-License-Identifier: Apache-2.0
// What we ask the kubelet.
//
// Invariants
// * Every call has a deadline, and `done` is called exactly once, on the mailbox's thread, unless
// the
//   client has gone before: its end cancels what is under way and waits for it.
// * The authority is always "localhost": newer gRPC would send the socket's path, which kubelets
//   refuse.
// * Each registration has a connection of its own, so that a kubelet that is back is not kept
// waiting
//   by the back-off of the one before.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "container/holdings.h"
#include "kubelet/device_plugin.h"
#include "loop/mailbox.h"

namespace railhead::kubelet {

using railhead::ContainerHoldings;
using railhead::Holding;
using railhead::PodHoldings;

struct Sockets {
  std::string registration;   ///< device-plugins/kubelet.sock
  std::string pod_resources;  ///< pod-resources/kubelet.sock
};

class Client {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  Client(Sockets sockets, Mailbox& mailbox);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// Registers a plugin that serves on `endpoint`, a file name in the kubelet's folder. The kubelet
  /// calls the plugin before it answers. An error carries the kubelet's own words.
  void enroll(const std::string& endpoint, const DevicePluginOptions& options,
              std::function<void(Status)> done);

  /// What a pod's containers hold. Kubelets without the Get call (before 1.34) are asked for all
  /// pods, within the same time. Errors: `unavailable` where there is no kubelet to ask, `timeout`,
  /// `too_large` above 16 MiB or above the kubelet's rate of requests.
  void holdings_of(const std::string& pod_namespace, const std::string& pod,
                   std::chrono::milliseconds timeout, const Done<PodHoldings>& done);

  /// Of all pods at once, at most 16 MiB.
  void all_holdings(std::chrono::milliseconds timeout, const Done<std::vector<PodHoldings>>& done);

  /// What the kubelet believes that the node's plugins offer.
  void allocatable(std::chrono::milliseconds timeout, Done<std::vector<Holding>> done);

  struct Call;

 private:
  class Calls;

  Sockets sockets_;
  std::shared_ptr<Calls> calls_;
};

}  // namespace railhead::kubelet
