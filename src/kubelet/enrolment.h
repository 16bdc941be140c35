// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "base/result.h"
#include "kubelet/device_plugin.h"
#include "kubelet/queue_thread.h"

namespace railhead::kubelet {

/// Our calls of the kubelet's Registration service, on somebody else's completion queue. Each has a
/// connection of its own, so that a kubelet that is back is not kept waiting by the back-off of the
/// one before.
class Enrolments {
 public:
  using Done = std::function<void(Status)>;

  explicit Enrolments(grpc::CompletionQueue& queue)
      : queue_(queue) {}

  /// Registers a plugin that serves on `endpoint`, a file name in the kubelet's folder. The kubelet
  /// calls the plugin before it answers. `done` is called within 10 s, on the queue's thread; an
  /// error carries the kubelet's own words.
  void begin(const std::string& kubelet_socket, const std::string& endpoint,
             const DevicePluginOptions& options, Done done);

  /// What is under way ends as `unavailable`, and so does what begins from now on.
  void cancel();

 private:
  class Call;

  grpc::CompletionQueue& queue_;
  std::mutex mutex_;
  std::set<Call*> calls_;
  bool is_over_ = false;
};

}  // namespace railhead::kubelet
