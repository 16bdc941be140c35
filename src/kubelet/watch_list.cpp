// SPDX-License-Identifier: Apache-2.0
#include "kubelet/watch_list.h"

#include <utility>

namespace railhead::kubelet {
namespace {

std::shared_ptr<const v1beta1::ListAndWatchResponse> message_of(
    const std::vector<Device>& devices) {
  auto message = std::make_shared<v1beta1::ListAndWatchResponse>();
  for (const auto& device : devices) {
    auto& one = *message->add_devices();
    one.set_id(device.id);
    one.set_health(device.healthy ? "Healthy" : "Unhealthy");
    for (const int node : device.numa_nodes) one.mutable_topology()->add_nodes()->set_id(node);
  }
  return message;
}

}  // namespace

/// One kubelet that watches. At most one write is under way; what was published meanwhile is sent
/// after it, the newest only. gRPC deletes it through OnDone, after the last of its other calls.
class WatchList::Stream final : public grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse> {
 public:
  explicit Stream(WatchList& list)
      : list_(list) {}

  void send(std::shared_ptr<const v1beta1::ListAndWatchResponse> message) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    next_ = std::move(message);
    if (!current_) start_next();
  }

  void end(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
    Finish(status);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return end(grpc::Status::CANCELLED);
    const std::lock_guard lock(mutex_);
    current_.reset();
    if (!finished_ && next_) start_next();
  }

  void OnCancel() override { end(grpc::Status::CANCELLED); }

  void OnDone() override {
    list_.forget(this);
    delete this;
  }

 private:
  void start_next() {
    current_ = std::exchange(next_, nullptr);
    StartWrite(current_.get());
  }

  WatchList& list_;
  std::mutex mutex_;
  std::shared_ptr<const v1beta1::ListAndWatchResponse> current_;  // being written
  std::shared_ptr<const v1beta1::ListAndWatchResponse> next_;
  bool finished_ = false;
};

WatchList::WatchList(std::function<void(bool)> watched)
    : watched_(std::move(watched)),
      message_(message_of({})) {}

WatchList::~WatchList() = default;

grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* WatchList::add_watcher() {
  auto* stream = new Stream(*this);
  const std::lock_guard lock(mutex_);
  if (streams_.empty()) watched_(true);
  streams_.insert(stream);
  if (closed_) {
    stream->end({grpc::StatusCode::UNAVAILABLE, "railhead: the agent is ending"});
  } else {
    stream->send(message_);
  }
  return stream;
}

void WatchList::publish(std::vector<Device> devices) {
  const std::lock_guard lock(mutex_);
  if (devices == devices_) return;
  devices_ = std::move(devices);
  message_ = message_of(devices_);
  for (auto* stream : streams_) stream->send(message_);
}

void WatchList::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto* stream : streams_) stream->end(grpc::Status::OK);
}

void WatchList::forget(Stream* stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
  if (streams_.empty()) watched_(false);
}

}  // namespace railhead::kubelet
