// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/hosted_service.h"
#include "agent/kube_events.h"

namespace railhead::agent {

/// Events for Kubernetes: a KubeEvents, which waits for the API server. It is always ready: what
/// the agent does for containers needs no API server.
class KubeEventsService final : public HostedService<KubeEvents> {
 public:
  KubeEventsService(Context context, const KubeEventsOptions& options, EventOutbox& outbox)
      : HostedService("events", "events", [=, &outbox](loop::LoopThread& thread) {
          auto events = std::make_unique<KubeEvents>(context.on(thread), options, outbox);
          events->start();
          return events;
        }) {}
};

}  // namespace railhead::agent
