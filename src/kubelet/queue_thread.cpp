// SPDX-License-Identifier: Apache-2.0
#include "kubelet/queue_thread.h"

#include <pthread.h>

#include <system_error>
#include <utility>

namespace railhead::kubelet {

Result<std::unique_ptr<QueueThread>> QueueThread::start(grpc::CompletionQueue& queue,
                                                        const std::string& name) {
  try {
    std::thread thread([&queue] { serve_events(queue); });
    ::pthread_setname_np(thread.native_handle(), name.substr(0, 15).c_str());
    return std::unique_ptr<QueueThread>(new QueueThread(std::move(thread)));
  } catch (const std::system_error& failure) {
    return Error{ErrorCode::unavailable, "thread " + name + ": " + failure.what()};
  }
}

QueueThread::~QueueThread() {
  thread_.join();
}

void serve_events(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool is_ok = false;
  while (queue.Next(&tag, &is_ok)) static_cast<Event*>(tag)->happened(is_ok);
}

}  // namespace railhead::kubelet
