// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "podresources.grpc.pb.h"

namespace railhead::kubelet::test {

/// An entry for each device, as the kubelet has it.
inline void add_device(v1::ContainerResources& container, const std::string& resource,
                       const std::string& id) {
  auto& entry = *container.add_devices();
  entry.set_resource_name(resource);
  entry.add_device_ids(id);
}

inline v1::PodResources pod_named(const std::string& name) {
  v1::PodResources one;
  one.set_namespace_("default");
  one.set_name(name);
  auto& container = *one.add_containers();
  container.set_name("main");
  if (name == "shares") {
    add_device(container, "nvidia.com/gpu-share", "share-b");
    add_device(container, "nvidia.com/gpu-share", "share-a");
    add_device(container, "rdma.io/hca", "rdma-0");
    add_device(container, "nvidia.com/gpu-share", "share-b");  // of another NUMA node
  } else {
    add_device(container, "nvidia.com/gpu", "GPU-1");
  }
  return one;
}

/// Answers what the test says.
class AnsweringKubelet final : public v1::PodResourcesLister::Service {
 public:
  grpc::Status Get(grpc::ServerContext* context, const v1::GetPodResourcesRequest* request,
                   v1::GetPodResourcesResponse* answer) override {
    ++gets;
    const auto text = context->ExperimentalGetAuthority();
    {
      const std::lock_guard lock(mutex_);
      authority_.assign(text.data(), text.size());
    }
    if (without_get != grpc::StatusCode::OK) {
      return {without_get, "PodResources API Get method disabled"};
    }
    if (request->pod_name() == "unknown") return {grpc::StatusCode::UNKNOWN, "pod not found"};
    if (refusals > 0) {
      --refusals;
      return {refusal, "rejected by rate limit"};
    }
    hangs_.wait(true);
    *answer->mutable_pod_resources() = pod_named(request->pod_name());
    return grpc::Status::OK;
  }

  grpc::Status List(grpc::ServerContext* /*context*/,
                    const v1::ListPodResourcesRequest* /*request*/,
                    v1::ListPodResourcesResponse* answer) override {
    ++lists;
    hangs_.wait(true);
    if (padding > 0) answer->add_pod_resources()->set_name(std::string(padding, 'x'));
    *answer->add_pod_resources() = pod_named("other");
    *answer->add_pod_resources() = pod_named("mine");
    if (has_claims) {
      auto& pod = *answer->add_pod_resources() = pod_named("claimed");
      for (const auto* device : {"gpu-1", "nic-0", "gpu-0"}) {
        const bool is_nic = std::string_view(device) == "nic-0";
        auto& claim = *pod.mutable_containers(0)->add_dynamic_resources()->add_claim_resources();
        claim.set_driver_name(is_nic ? "dra.net" : "gpu.nvidia.com");
        claim.set_pool_name("node-1");
        claim.set_device_name(device);
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status GetAllocatableResources(grpc::ServerContext* /*context*/,
                                       const v1::AllocatableResourcesRequest* /*request*/,
                                       v1::AllocatableResourcesResponse* answer) override {
    auto& devices = *answer->add_devices();
    devices.set_resource_name("rdma.io/hca");
    devices.add_device_ids("rdma-0");
    return grpc::Status::OK;
  }

  void hang(bool now) {
    hangs_ = now;
    hangs_.notify_all();
  }

  std::string authority() {
    const std::lock_guard lock(mutex_);
    return authority_;
  }

  std::atomic<int> gets{0};
  std::atomic<int> lists{0};
  std::atomic<bool> has_claims{false};
  std::atomic<int> refusals{0};
  std::atomic<grpc::StatusCode> refusal{grpc::StatusCode::RESOURCE_EXHAUSTED};
  std::atomic<grpc::StatusCode> without_get{grpc::StatusCode::OK};
  std::atomic<std::size_t> padding{0};

 private:
  std::atomic<bool> hangs_{false};
  std::mutex mutex_;
  std::string authority_;
};

}  // namespace railhead::kubelet::test
