// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>

#include "kubelet/queue_thread.h"

namespace railhead::kubelet {

/// A call of the kubelet that has come and is not answered yet.
class OpenCall : public Event {
 public:
  /// From any thread, once; the call may be gone when this returns.
  virtual void finish(const grpc::Status& status) = 0;
};

/// One call of a method that answers once. It owns itself: from the time when it waits for the
/// kubelet until the answer is sent.
template <typename Service, typename Request, typename Answer>
class PluginCall final : public OpenCall {
 public:
  /// One of the service's Request… methods.
  using Method = void (Service::*)(grpc::ServerContext*, Request*,
                                   grpc::ServerAsyncResponseWriter<Answer>*, grpc::CompletionQueue*,
                                   grpc::ServerCompletionQueue*, void*);
  /// Fills the answer and finishes the call, at once or later. On the queue's thread.
  using Serve = std::function<void(PluginCall&)>;

  /// From now on every call of the method is served, until the server ends.
  static void serve_all(Service& service, Method method, grpc::ServerCompletionQueue& queue,
                        Serve serve) {
    auto* call = new PluginCall(service, method, queue, std::move(serve));
    (service.*method)(&call->context_, &call->request, &call->writer_, &queue, &queue, call);
  }

  void happened(bool ok) override {
    if (has_come_ || !ok) {
      delete this;
      return;
    }
    has_come_ = true;
    serve_all(service_, method_, queue_, serve_);
    serve_(*this);
  }

  void finish(const grpc::Status& status) override { writer_.Finish(answer, status, this); }

  Request request;
  Answer answer;

 private:
  PluginCall(Service& service, Method method, grpc::ServerCompletionQueue& queue, Serve serve)
      : service_(service),
        method_(method),
        queue_(queue),
        serve_(std::move(serve)) {}

  ~PluginCall() override = default;

  Service& service_;
  Method method_;
  grpc::ServerCompletionQueue& queue_;
  Serve serve_;
  grpc::ServerContext context_;
  grpc::ServerAsyncResponseWriter<Answer> writer_{&context_};
  bool has_come_ = false;
};

}  // namespace railhead::kubelet
