// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "agent/hosted_service.h"
#include "agent/pool_publisher.h"
#include "loop/shared.h"

namespace railhead::agent {

/// The kubelet's service: a PoolPublisher, since the kubelet's folders and the files of allocations
/// may wait.
class KubeletService final : public HostedService<PoolPublisher> {
 public:
  /// It looks around every ten seconds. After so many it is held up, by a file system or by gRPC.
  static constexpr std::chrono::seconds kHeldUp{60};

  KubeletService(Context context, const KubeletOptions& options, PoolPublisher::Links links)
      : HostedService("kubelet", "kubelet",
                      [=, this](loop::LoopThread& thread) {
                        auto publisher =
                            std::make_unique<PoolPublisher>(context.on(thread), options, links);
                        auto* now = publisher.get();
                        now->on_change([this, now] {
                          readiness_.set(now->readiness());
                          looked_at_.set(clock_.now());
                        });
                        links.tables.follow(thread.mailbox(), [now] { now->look(); });
                        now->start();
                        return publisher;
                      }),
        clock_(context.clock) {}

  [[nodiscard]] Readiness readiness() const override {
    const auto silent =
        std::chrono::duration_cast<std::chrono::seconds>(clock_.now() - looked_at_.get());
    if (silent < kHeldUp) return readiness_.get();
    return {false, "kubelet: held up for " + std::to_string(silent.count()) +
                       " s, a file system or gRPC does not answer"};
  }

 private:
  host::Clock& clock_;
  loop::Shared<Readiness> readiness_{{false, "kubelet: starting"}};
  loop::Shared<std::chrono::steady_clock::time_point> looked_at_{clock_.now()};
};

}  // namespace railhead::agent
