// SPDX-License-Identifier: Apache-2.0
#include "kubelet/watch_list.h"

#include <string>
#include <utility>

#include "kubelet/queue_thread.h"

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

/// One kubelet that watches, or the wait for one. At most one write is under way; what was
/// published meanwhile is sent after it, the newest only. It owns itself until the queue has
/// returned all that it began.
class WatchList::Stream final {
 public:
  static void await(WatchList& list, Service& service, grpc::ServerCompletionQueue& queue) {
    auto* stream = new Stream(list, service, queue);
    // Told only of calls that have come.
    stream->context_.AsyncNotifyWhenDone(&stream->on_done_);
    service.RequestListAndWatch(&stream->context_, &stream->request_, &stream->writer_, &queue,
                                &queue, &stream->on_come_);
  }

  void send(std::shared_ptr<const v1beta1::ListAndWatchResponse> message) {
    const std::lock_guard lock(mutex_);
    if (is_finished_) return;
    next_ = std::move(message);
    if (!current_) start_next();
  }

  void end(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    finish(status);
  }

 private:
  /// The tag of one operation.
  class Step final : public Event {
   public:
    using What = void (Stream::*)(bool ok);

    Step(Stream& stream, What what)
        : stream_(stream),
          what_(what) {}

    void happened(bool ok) override { (stream_.*what_)(ok); }

   private:
    Stream& stream_;
    What what_;
  };

  Stream(WatchList& list, Service& service, grpc::ServerCompletionQueue& queue)
      : list_(list),
        service_(service),
        queue_(queue) {}

  ~Stream() = default;

  void has_come(bool ok) {
    if (!ok) {  // the server ends
      delete this;
      return;
    }
    await(list_, service_, queue_);
    open_steps_ = 1;
    list_.add(this);
  }

  void was_written(bool ok) {
    step_ends([&] {
      current_.reset();
      if (ok && !is_finished_ && next_) start_next();
    });
  }

  /// Both sides have ended the call, or the kubelet has gone.
  void is_done(bool /*ok*/) {
    step_ends([&] { finish(grpc::Status::CANCELLED); });
  }

  void was_finished(bool /*ok*/) {
    step_ends([] {});
  }

  template <typename Work>
  void step_ends(Work work) {
    {
      const std::lock_guard lock(mutex_);
      work();
      if (--open_steps_ != 0) return;
    }
    list_.forget(this);
    delete this;
  }

  void start_next() {
    current_ = std::exchange(next_, nullptr);
    ++open_steps_;
    writer_.Write(*current_, &on_written_);
  }

  void finish(const grpc::Status& status) {
    if (is_finished_) return;
    is_finished_ = true;
    ++open_steps_;
    writer_.Finish(status, &on_finished_);
  }

  WatchList& list_;
  Service& service_;
  grpc::ServerCompletionQueue& queue_;
  grpc::ServerContext context_;
  v1beta1::Empty request_;
  grpc::ServerAsyncWriter<v1beta1::ListAndWatchResponse> writer_{&context_};
  Step on_come_{*this, &Stream::has_come};
  Step on_written_{*this, &Stream::was_written};
  Step on_done_{*this, &Stream::is_done};
  Step on_finished_{*this, &Stream::was_finished};

  std::mutex mutex_;
  std::shared_ptr<const v1beta1::ListAndWatchResponse> current_;  // being written
  std::shared_ptr<const v1beta1::ListAndWatchResponse> next_;
  bool is_finished_ = false;
  int open_steps_ = 0;
};

WatchList::WatchList(std::function<void(bool)> watched)
    : watched_(std::move(watched)),
      message_(message_of({})) {}

WatchList::~WatchList() = default;

void WatchList::serve(Service& service, grpc::ServerCompletionQueue& queue) {
  Stream::await(*this, service, queue);
}

void WatchList::add(Stream* stream) {
  const std::lock_guard lock(mutex_);
  if (closed_) {
    stream->end({grpc::StatusCode::UNAVAILABLE, "railhead: the agent is ending"});
    return;
  }
  if (streams_.size() == kMaxWatches) {
    stream->end({grpc::StatusCode::RESOURCE_EXHAUSTED,
                 "railhead: " + std::to_string(kMaxWatches) + " others watch this resource"});
    return;
  }
  if (streams_.empty()) watched_(true);
  streams_.insert(stream);
  stream->send(message_);
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
  if (streams_.erase(stream) != 0 && streams_.empty()) watched_(false);
}

}  // namespace railhead::kubelet
