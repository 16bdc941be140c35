// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "deviceplugin.grpc.pb.h"
#include "kubelet/device_plugin.h"

namespace railhead::kubelet {

/// The device list and everyone who watches it. Thread-safe.
class WatchList {
 public:
  /// Every watch can hold a whole list that nobody reads. A kubelet has one, and two for a moment
  /// when it is restarted.
  static constexpr std::size_t kMaxWatches = 16;

  using Service = v1beta1::DevicePlugin::AsyncService;

  /// `watched` is called when the first stream opens and when the last one has gone: on any thread,
  /// in that order, and must not call back.
  explicit WatchList(std::function<void(bool)> watched);
  ~WatchList();

  /// From now on every ListAndWatch gets the list at once and then every newer one, until its
  /// kubelet goes or the server ends. One beyond kMaxWatches ends with RESOURCE_EXHAUSTED. The
  /// queue's tags are events.
  void serve(Service& service, grpc::ServerCompletionQueue& queue);

  /// Nothing is sent where the list is the one before.
  void publish(std::vector<Device> devices);

  /// Ends all streams, and every one that opens from now on.
  void close();

 private:
  class Stream;

  void add(Stream* stream);
  void forget(Stream* stream);

  std::function<void(bool)> watched_;
  std::mutex mutex_;
  std::vector<Device> devices_;
  std::shared_ptr<const v1beta1::ListAndWatchResponse> message_;
  std::set<Stream*> streams_;
  bool closed_ = false;
};

}  // namespace railhead::kubelet
