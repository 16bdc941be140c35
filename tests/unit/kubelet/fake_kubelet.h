// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "deviceplugin.grpc.pb.h"
#include "podresources.grpc.pb.h"

namespace railhead::kubelet::test {

/// A device manager as far as it matters here: it opens the list of whoever registers, and may be
/// told to refuse, to keep them waiting, to close its lists, and to leave resources out of its
/// account.
class FakeKubelet final : public v1beta1::Registration::Service,
                          public v1::PodResourcesLister::Service {
 public:
  explicit FakeKubelet(std::string folder)
      : folder_(std::move(folder)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + folder_ + "/kubelet.sock",
                             grpc::InsecureServerCredentials());
    builder.RegisterService(static_cast<v1beta1::Registration::Service*>(this));
    builder.RegisterService(static_cast<v1::PodResourcesLister::Service*>(this));
    server_ = builder.BuildAndStart();
  }

  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

  ~FakeKubelet() override {
    stall(false);
    hold_accounts(false);
    server_->Shutdown();
    close_lists();
  }

  grpc::Status Register(grpc::ServerContext* /*context*/, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* /*answer*/) override {
    if (refuses || request->resource_name() == refused)
      return {grpc::StatusCode::INVALID_ARGUMENT, "not this name"};
    ++registrations;
    stalls_.wait(true);
    const std::lock_guard lock(mutex_);
    auto& list = lists_[request->resource_name()];
    list.reset();
    list = std::make_unique<List>("unix:" + folder_ + "/" + request->endpoint());
    return grpc::Status::OK;
  }

  grpc::Status GetAllocatableResources(grpc::ServerContext* /*context*/,
                                       const v1::AllocatableResourcesRequest* /*request*/,
                                       v1::AllocatableResourcesResponse* answer) override {
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, list] : lists_) {
        if (counts && name != left_out_) answer->add_devices()->set_resource_name(name);
      }
    }
    ++accounts;
    holds_accounts_.wait(true);
    return grpc::Status::OK;
  }

  /// Registrations are neither answered nor followed by a list while it does.
  void stall(bool now) {
    stalls_ = now;
    stalls_.notify_all();
  }

  /// Its accounts are as they were when it was asked, and not sent while it does.
  void hold_accounts(bool now) {
    holds_accounts_ = now;
    holds_accounts_.notify_all();
  }

  /// In its accounts from now on; "": nothing.
  void leave_out(const std::string& resource) {
    const std::lock_guard lock(mutex_);
    left_out_ = resource;
  }

  void close_lists() {
    const std::lock_guard lock(mutex_);
    lists_.clear();
  }

  /// As the last list says; -1 before there is one, and after its end.
  int devices(const std::string& resource) {
    const std::lock_guard lock(mutex_);
    const auto at = lists_.find(resource);
    return at == lists_.end() ? -1 : at->second->devices.load();
  }

  /// How many there ever were in the last list that was read, its end or not.
  int last_devices(const std::string& resource) {
    const std::lock_guard lock(mutex_);
    const auto at = lists_.find(resource);
    return at == lists_.end() ? -1 : at->second->last.load();
  }

  std::atomic<int> registrations{0};
  std::atomic<int> accounts{0};
  std::atomic<bool> refuses{false};
  std::atomic<bool> counts{true};
  std::string refused;  ///< this resource, from the beginning on

 private:
  /// A ListAndWatch that is read to its end.
  struct List {
    explicit List(const std::string& target)
        : channel(grpc::CreateChannel(target, grpc::InsecureChannelCredentials())),
          stub(v1beta1::DevicePlugin::NewStub(channel)),
          thread([this] { read(); }) {
      opened.wait(false);
    }

    List(const List&) = delete;
    List& operator=(const List&) = delete;

    ~List() {
      context.TryCancel();
      thread.join();
    }

    void read() {
      const auto stream = stub->ListAndWatch(&context, {});
      v1beta1::ListAndWatchResponse list;
      while (stream->Read(&list)) {
        devices = list.devices_size();
        last = list.devices_size();
        open();
      }
      devices = -1;
      open();
    }

    void open() {
      opened = true;
      opened.notify_all();
    }

    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<v1beta1::DevicePlugin::Stub> stub;
    grpc::ClientContext context;
    std::atomic<int> devices{-1};
    std::atomic<int> last{-1};
    std::atomic<bool> opened{false};  ///< or failed
    std::thread thread;
  };

  std::string folder_;
  std::string left_out_;
  std::atomic<bool> stalls_{false};
  std::atomic<bool> holds_accounts_{false};
  std::mutex mutex_;
  std::unique_ptr<grpc::Server> server_;
  std::map<std::string, std::unique_ptr<List>> lists_;
};

}  // namespace railhead::kubelet::test
