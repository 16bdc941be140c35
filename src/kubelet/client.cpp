// SPDX-License-Identifier: Apache-2.0
#include "kubelet/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "deviceplugin.grpc.pb.h"
#include "kubelet/channel.h"
#include "kubelet/library_log.h"
#include "podresources.grpc.pb.h"

namespace railhead::kubelet {
namespace {

constexpr std::chrono::seconds kEnrolTimeout{10};

gpr_timespec deadline_in(std::chrono::milliseconds timeout) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(timeout.count(), GPR_TIMESPAN));
}

/// Kubelets from 1.27 to 1.33 have Get behind a gate that is off, and answer with an error of no
/// code. Source: Kubernetes pkg/kubelet/apis/podresources/server_v1.go.
bool lacks_get(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNIMPLEMENTED ||
         status.error_code() == grpc::StatusCode::UNKNOWN;
}

Holding holding_of(const v1::ContainerDevices& devices) {
  return {devices.resource_name(), {devices.device_ids().begin(), devices.device_ids().end()}};
}

PodHoldings holdings_in(const v1::PodResources& pod) {
  PodHoldings out{pod.namespace_(), pod.name(), {}};
  for (const auto& container : pod.containers()) {
    auto& one = out.containers.emplace_back();
    one.container = container.name();
    for (const auto& devices : container.devices()) one.devices.push_back(holding_of(devices));
  }
  return out;
}

}  // namespace

/// One call: all that gRPC needs until it is done.
struct Client::Call {
  grpc::ClientContext context;
  std::shared_ptr<grpc::Channel> channel;
  std::function<void(const grpc::Status&)> finish;
  bool done = false;

  explicit Call(const std::string& socket)
      : channel(connect(socket)) {}

  virtual ~Call() = default;
};

namespace {

/// With the messages and the stub of one method.
template <typename Service, typename Request, typename Answer>
struct CallOf : Client::Call {
  /// One of the stub's methods, in the form with a callback.
  using Method = void (Service::StubInterface::async_interface::*)(
      grpc::ClientContext*, const Request*, Answer*, std::function<void(grpc::Status)>);

  std::unique_ptr<typename Service::StubInterface> stub;
  Request request;
  Answer answer;

  explicit CallOf(const std::string& socket)
      : Call(socket),
        stub(Service::NewStub(channel)) {}
};

}  // namespace

/// Calls under way. They are destroyed on the mailbox's thread: the last channel to go joins gRPC's
/// threads, which one of those must not do (grpc 1.51, src/cpp/common/completion_queue_cc.cc).
class Client::Calls : public std::enable_shared_from_this<Client::Calls> {
 public:
  explicit Calls(Mailbox& mailbox)
      : mailbox_(mailbox) {}

  /// `finish` gets the status and the answer, on the mailbox's thread.
  template <typename CallType, typename Finish>
  void begin(std::unique_ptr<CallType> call, typename CallType::Method method,
             gpr_timespec deadline, Finish finish) {
    auto* at = call.get();
    at->finish = [at, finish = std::move(finish)](const grpc::Status& status) {
      finish(status, at->answer);
    };
    at->context.set_deadline(deadline);
    {
      const std::lock_guard lock(mutex_);
      calls_.emplace(at, std::move(call));
    }
    (at->stub->async()->*method)(
        &at->context, &at->request, &at->answer,
        [this, key = static_cast<Call*>(at)](const grpc::Status& status) { done(key, status); });
  }

  void list(const std::string& socket, gpr_timespec deadline,
            const Done<std::vector<PodHoldings>>& done) {
    using List =
        CallOf<v1::PodResourcesLister, v1::ListPodResourcesRequest, v1::ListPodResourcesResponse>;
    begin(std::make_unique<List>(socket),
          &v1::PodResourcesLister::StubInterface::async_interface::List, deadline,
          [socket, done](const grpc::Status& status, const v1::ListPodResourcesResponse& answer) {
            if (!status.ok()) return done(error_of(status, socket));
            std::vector<PodHoldings> pods;
            for (const auto& pod : answer.pod_resources()) pods.push_back(holdings_in(pod));
            done(std::move(pods));
          });
  }

  void end() {
    std::unique_lock lock(mutex_);
    for (const auto& [key, call] : calls_) key->context.TryCancel();
    idle_.wait(lock, [this] {
      return std::all_of(calls_.begin(), calls_.end(),
                         [](const auto& entry) { return entry.second->done; });
    });
  }

 private:
  /// On one of gRPC's threads.
  void done(Call* key, const grpc::Status& status) {
    mailbox_.post([calls = weak_from_this(), key, status] {
      if (const auto alive = calls.lock()) alive->take(key)->finish(status);
    });
    const std::lock_guard lock(mutex_);
    key->done = true;
    idle_.notify_all();
  }

  std::unique_ptr<Call> take(Call* key) {
    // Its callback may still be marking it done.
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [key] { return key->done; });
    auto node = calls_.extract(key);
    return std::move(node.mapped());
  }

  Mailbox& mailbox_;
  std::mutex mutex_;
  std::condition_variable idle_;
  std::map<Call*, std::unique_ptr<Call>> calls_;
};

Client::Client(Sockets sockets, Mailbox& mailbox)
    : sockets_(std::move(sockets)),
      calls_(std::make_shared<Calls>(mailbox)) {
  silence_library_log();
}

Client::~Client() {
  calls_->end();
}

void Client::enroll(const std::string& endpoint, const DevicePluginOptions& options,
                    std::function<void(Status)> done) {
  using Enrol = CallOf<v1beta1::Registration, v1beta1::RegisterRequest, v1beta1::Empty>;
  auto call = std::make_unique<Enrol>(sockets_.registration);
  call->request.set_version("v1beta1");
  call->request.set_endpoint(endpoint);
  call->request.set_resource_name(options.resource);
  auto& wishes = *call->request.mutable_options();
  wishes.set_pre_start_required(options.pre_start_required);
  wishes.set_get_preferred_allocation_available(options.preferred_allocation);
  calls_->begin(std::move(call), &v1beta1::Registration::StubInterface::async_interface::Register,
                deadline_in(kEnrolTimeout),
                [done = std::move(done), socket = sockets_.registration](
                    const grpc::Status& status, const v1beta1::Empty& /*answer*/) {
                  done(status.ok() ? Status() : Status(error_of(status, socket)));
                });
}

void Client::holdings_of(const std::string& pod_namespace, const std::string& pod,
                         std::chrono::milliseconds timeout, const Done<PodHoldings>& done) {
  using Get =
      CallOf<v1::PodResourcesLister, v1::GetPodResourcesRequest, v1::GetPodResourcesResponse>;
  auto call = std::make_unique<Get>(sockets_.pod_resources);
  call->request.set_pod_namespace(pod_namespace);
  call->request.set_pod_name(pod);
  const auto from_list = [pod_namespace, pod, done](Result<std::vector<PodHoldings>> all) {
    if (!all) return done(all.error());
    const auto at = std::find_if(all->begin(), all->end(), [&](const PodHoldings& one) {
      return one.pod_namespace == pod_namespace && one.pod == pod;
    });
    done(at != all->end() ? std::move(*at) : PodHoldings{pod_namespace, pod, {}});
  };
  const auto deadline = deadline_in(timeout);  // of both calls
  calls_->begin(std::move(call), &v1::PodResourcesLister::StubInterface::async_interface::Get,
                deadline,
                [this, deadline, done, from_list](const grpc::Status& status,
                                                  const v1::GetPodResourcesResponse& answer) {
                  if (lacks_get(status))
                    return calls_->list(sockets_.pod_resources, deadline, from_list);
                  if (!status.ok()) return done(error_of(status, sockets_.pod_resources));
                  done(holdings_in(answer.pod_resources()));
                });
}

void Client::all_holdings(std::chrono::milliseconds timeout,
                          const Done<std::vector<PodHoldings>>& done) {
  calls_->list(sockets_.pod_resources, deadline_in(timeout), done);
}

void Client::allocatable(std::chrono::milliseconds timeout, Done<std::vector<Holding>> done) {
  using Ask = CallOf<v1::PodResourcesLister, v1::AllocatableResourcesRequest,
                     v1::AllocatableResourcesResponse>;
  calls_->begin(std::make_unique<Ask>(sockets_.pod_resources),
                &v1::PodResourcesLister::StubInterface::async_interface::GetAllocatableResources,
                deadline_in(timeout),
                [socket = sockets_.pod_resources, done = std::move(done)](
                    const grpc::Status& status, const v1::AllocatableResourcesResponse& answer) {
                  if (!status.ok()) return done(error_of(status, socket));
                  std::vector<Holding> offered;
                  for (const auto& devices : answer.devices())
                    offered.push_back(holding_of(devices));
                  done(std::move(offered));
                });
}

}  // namespace railhead::kubelet
