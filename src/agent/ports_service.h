// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "agent/hosted_service.h"
#include "agent/port_counters.h"

namespace railhead::agent {

/// What ports count: a PortCounters, which asks firmware. `source` is called on its thread: it
/// looks at files.
class PortsService final : public HostedService<PortCounters> {
 public:
  PortsService(Context context, const TableFeed& tables, std::chrono::seconds every,
               const std::function<PortCounters::Source()>& source)
      : HostedService("ports", "ports", [=, &tables](loop::LoopThread& thread) {
          auto counters =
              std::make_unique<PortCounters>(context.on(thread), tables, every, source());
          counters->start();
          return counters;
        }) {}
};

}  // namespace railhead::agent
