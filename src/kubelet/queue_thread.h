// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <thread>

#include "base/result.h"

namespace railhead::kubelet {

/// What a completion queue tells of: the tag of an operation.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// On the queue's thread. `ok` as the operation says.
  virtual void happened(bool ok) = 0;

 protected:
  virtual ~Event() = default;
};

/// Serves a completion queue whose tags are events, on a thread of its own that sleeps while
/// nothing happens. gRPC's own threads of the callback interface (grpc 1.51,
/// completion_queue_cc.cc) are half as many as processors, up to 16, and wake up each second.
class QueueThread {
 public:
  /// Fails where the system has no thread left. `name` is what ps shows, at most 15 bytes.
  static Result<std::unique_ptr<QueueThread>> start(grpc::CompletionQueue& queue,
                                                    const std::string& name);
  /// After the queue was shut down: waits until all its events have happened.
  ~QueueThread();

 private:
  explicit QueueThread(std::thread thread)
      : thread_(std::move(thread)) {}

  std::thread thread_;
};

/// Until the queue is shut down and empty, on this thread.
void serve_events(grpc::CompletionQueue& queue);

}  // namespace railhead::kubelet
