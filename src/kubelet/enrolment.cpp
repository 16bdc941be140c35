// SPDX-License-Identifier: Apache-2.0
#include "kubelet/enrolment.h"

#include <chrono>
#include <memory>
#include <utility>

#include "deviceplugin.grpc.pb.h"
#include "kubelet/channel.h"

namespace railhead::kubelet {
namespace {

constexpr std::chrono::milliseconds kTimeout{10'000};

}  // namespace

/// Owns itself until the kubelet has answered.
class Enrolments::Call final : public Event {
 public:
  Call(Enrolments& owner, std::string socket, Done done)
      : owner_(owner),
        socket_(std::move(socket)),
        done_(std::move(done)) {}

  void begin(const v1beta1::RegisterRequest& request) {
    context_.set_deadline(timespec_in(kTimeout));
    reader_ = v1beta1::Registration::NewStub(connect(socket_))
                  ->PrepareAsyncRegister(&context_, request, &owner_.queue_);
    reader_->StartCall();
    reader_->Finish(&answer_, &status_, this);
  }

  void cancel() { context_.TryCancel(); }

  void happened(bool /*ok*/) override {
    {
      const std::lock_guard lock(owner_.mutex_);
      owner_.calls_.erase(this);
    }
    done_(status_.ok() ? Status() : Status(error_of(status_, socket_)));
    delete this;
  }

 private:
  Enrolments& owner_;
  std::string socket_;
  Done done_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<v1beta1::Empty>> reader_;
  v1beta1::Empty answer_;
  grpc::Status status_;
};

void Enrolments::begin(const std::string& kubelet_socket, const std::string& endpoint,
                       const DevicePluginOptions& options, Done done) {
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(endpoint);
  request.set_resource_name(options.resource);
  auto& wishes = *request.mutable_options();
  wishes.set_pre_start_required(options.pre_start_required);
  wishes.set_get_preferred_allocation_available(true);
  const std::lock_guard lock(mutex_);
  if (is_over_) return;
  auto* call = *calls_.insert(new Call(*this, kubelet_socket, std::move(done))).first;
  call->begin(request);
}

void Enrolments::cancel() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  for (auto* call : calls_) call->cancel();
}

}  // namespace railhead::kubelet
