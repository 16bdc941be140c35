// SPDX-License-Identifier: Apache-2.0
#include "agent/kubelet_service.h"

#include <utility>

namespace railhead::agent {

KubeletService::KubeletService(Context context, KubeletOptions options, PoolPublisher::Links links)
    : context_(context),
      options_(std::move(options)),
      links_(links) {}

KubeletService::~KubeletService() = default;

Status KubeletService::start() {
  publisher_ = TRY(loop::Hosted<PoolPublisher>::start("kubelet", [this](loop::LoopThread& thread) {
    const Context there = context_.on(thread);
    auto publisher = std::make_unique<PoolPublisher>(there, options_, links_);
    publisher->on_change([this, now = publisher.get()] { readiness_.set(now->readiness()); });
    links_.tables.follow(thread.mailbox(), [now = publisher.get()] { now->look(); });
    publisher->start();
    return publisher;
  }));
  return {};
}

bool KubeletService::stop(std::chrono::milliseconds patience) {
  return !publisher_ || publisher_->end(patience);
}

}  // namespace railhead::agent
