// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/hosted_service.h"
#include "agent/pool_publisher.h"
#include "loop/shared.h"

namespace railhead::agent {

/// The kubelet's service: a PoolPublisher, since the kubelet's folders and the files of allocations
/// may wait.
class KubeletService final : public HostedService<PoolPublisher> {
 public:
  KubeletService(Context context, const KubeletOptions& options, PoolPublisher::Links links)
      : HostedService("kubelet", "kubelet", [=, this](loop::LoopThread& thread) {
          auto publisher = std::make_unique<PoolPublisher>(context.on(thread), options, links);
          auto* now = publisher.get();
          now->on_change([this, now] { readiness_.set(now->readiness()); });
          links.tables.follow(thread.mailbox(), [now] { now->look(); });
          now->start();
          return publisher;
        }) {}

  [[nodiscard]] Readiness readiness() const override { return readiness_.get(); }

 private:
  loop::Shared<Readiness> readiness_{{false, "kubelet: starting"}};
};

}  // namespace railhead::agent
