// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod_question.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace railhead::kubelet {
namespace {

template <typename Answer>
struct TryOf final : Try {
  Answer answer;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Answer>> reader;

  [[nodiscard]] std::size_t bytes() const override { return answer.ByteSizeLong(); }
};

using ListTry = TryOf<v1::ListPodResourcesResponse>;
using GetTry = TryOf<v1::GetPodResourcesResponse>;
using AllocatableTry = TryOf<v1::AllocatableResourcesResponse>;

/// `prepare` is one of the stub's PrepareAsync… methods.
template <typename Answer, typename Request, typename Prepare>
std::unique_ptr<Try> start(Question& question, Question::Stub& stub, grpc::CompletionQueue& queue,
                           gpr_timespec until, const Request& request, Prepare prepare) {
  auto attempt = std::make_unique<TryOf<Answer>>();
  attempt->context.set_deadline(until);
  attempt->reader = (stub.*prepare)(&attempt->context, request, &queue);
  attempt->reader->StartCall();
  attempt->reader->Finish(&attempt->answer, &attempt->status, &question);
  return attempt;
}

/// By resource, each id once. The kubelet has an entry for each device, again for each NUMA node of
/// the device, in any order. Source: Kubernetes pkg/kubelet/cm/container_manager.go,
/// containerDevicesFromResourceDeviceInstances.
template <typename Entries>
std::vector<container::Holding> holdings_of(const Entries& entries) {
  std::map<std::string_view, std::set<std::string_view>> by_resource;
  for (const v1::ContainerDevices& devices : entries) {
    auto& ids = by_resource[devices.resource_name()];
    ids.insert(devices.device_ids().begin(), devices.device_ids().end());
  }
  std::vector<container::Holding> out;
  for (const auto& [resource, ids] : by_resource) {
    out.push_back({std::string(resource), {ids.begin(), ids.end()}});
  }
  return out;
}

container::PodHoldings holdings_in(const v1::PodResources& pod) {
  container::PodHoldings out{pod.namespace_(), pod.name(), {}};
  for (const auto& container : pod.containers()) {
    out.containers.push_back({container.name(), holdings_of(container.devices())});
  }
  return out;
}

/// The same with what claims gave, by the name of their driver.
container::PodHoldings all_holdings_in(const v1::PodResources& pod) {
  auto out = holdings_in(pod);
  for (int i = 0; i < pod.containers_size(); ++i) {
    std::map<std::string, std::set<std::string>> by_driver;
    for (const auto& claim : pod.containers(i).dynamic_resources()) {
      for (const auto& device : claim.claim_resources())
        by_driver[device.driver_name()].insert(device.pool_name() + "/" + device.device_name());
    }
    auto& devices = out.containers[static_cast<std::size_t>(i)].devices;
    for (auto& [driver, ids] : by_driver) devices.push_back({driver, {ids.begin(), ids.end()}});
  }
  return out;
}

/// With the callback of one kind of answer.
template <typename T>
class QuestionOf : public Question {
 public:
  QuestionOf(std::chrono::steady_clock::time_point end, PodResources::Done<T> done)
      : Question(end),
        done_(std::move(done)) {}

  Work failed(Error error) override { return work(Result<T>(std::move(error))); }

 protected:
  Work work(Result<T> result) {
    return [done = std::move(done_), result = std::move(result)]() mutable {
      done(std::move(result));
    };
  }

  template <typename TryType>
  const auto& answer() const {
    return static_cast<const TryType&>(*attempt).answer;
  }

 private:
  PodResources::Done<T> done_;
};

class PodQuestion final : public QuestionOf<container::PodHoldings> {
 public:
  PodQuestion(std::chrono::steady_clock::time_point end, const std::string& pod_namespace,
              const std::string& name, PodResources::Done<container::PodHoldings> done)
      : QuestionOf(end, std::move(done)) {
    request_.set_pod_namespace(pod_namespace);
    request_.set_pod_name(name);
  }

  void begin(Stub& stub, grpc::CompletionQueue& queue, gpr_timespec until, bool has_get) override {
    uses_get_ = has_get;
    attempt = has_get ? start<v1::GetPodResourcesResponse>(*this, stub, queue, until, request_,
                                                           &Stub::PrepareAsyncGet)
                      : start<v1::ListPodResourcesResponse>(*this, stub, queue, until,
                                                            v1::ListPodResourcesRequest(),
                                                            &Stub::PrepareAsyncList);
  }

  [[nodiscard]] bool uses_get() const override { return uses_get_; }

  Work answered() override {
    if (uses_get_) return work(holdings_in(answer<GetTry>().pod_resources()));
    const auto& pods = answer<ListTry>().pod_resources();
    const auto at = std::ranges::find_if(pods, [this](const v1::PodResources& pod) {
      return pod.namespace_() == request_.pod_namespace() && pod.name() == request_.pod_name();
    });
    if (at != pods.end()) return work(holdings_in(*at));
    return work(container::PodHoldings{request_.pod_namespace(), request_.pod_name(), {}});
  }

 private:
  v1::GetPodResourcesRequest request_;
  bool uses_get_ = false;
};

class AllQuestion final : public QuestionOf<std::vector<container::PodHoldings>> {
 public:
  using QuestionOf::QuestionOf;

  void begin(Stub& stub, grpc::CompletionQueue& queue, gpr_timespec until,
             bool /*has_get*/) override {
    attempt = start<v1::ListPodResourcesResponse>(
        *this, stub, queue, until, v1::ListPodResourcesRequest(), &Stub::PrepareAsyncList);
  }

  [[nodiscard]] bool is_patient() const override { return true; }

  Work answered() override {
    std::vector<container::PodHoldings> pods;
    for (const auto& pod : answer<ListTry>().pod_resources()) pods.push_back(all_holdings_in(pod));
    return work(std::move(pods));
  }
};

class AllocatableQuestion final : public QuestionOf<std::vector<container::Holding>> {
 public:
  using QuestionOf::QuestionOf;

  void begin(Stub& stub, grpc::CompletionQueue& queue, gpr_timespec until,
             bool /*has_get*/) override {
    attempt = start<v1::AllocatableResourcesResponse>(*this, stub, queue, until,
                                                      v1::AllocatableResourcesRequest(),
                                                      &Stub::PrepareAsyncGetAllocatableResources);
  }

  Work answered() override { return work(holdings_of(answer<AllocatableTry>().devices())); }
};

}  // namespace

std::unique_ptr<Question> pod_question(std::chrono::steady_clock::time_point deadline,
                                       const std::string& pod_namespace, const std::string& name,
                                       PodResources::Done<container::PodHoldings> done) {
  return std::make_unique<PodQuestion>(deadline, pod_namespace, name, std::move(done));
}

std::unique_ptr<Question> all_question(
    std::chrono::steady_clock::time_point deadline,
    PodResources::Done<std::vector<container::PodHoldings>> done) {
  return std::make_unique<AllQuestion>(deadline, std::move(done));
}

std::unique_ptr<Question> allocatable_question(
    std::chrono::steady_clock::time_point deadline,
    PodResources::Done<std::vector<container::Holding>> done) {
  return std::make_unique<AllocatableQuestion>(deadline, std::move(done));
}

}  // namespace railhead::kubelet
