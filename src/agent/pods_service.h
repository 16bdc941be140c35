// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/hosted_service.h"
#include "agent/pods_monitor.h"

namespace railhead::agent {

/// Who uses RDMA: a PodsMonitor, which asks firmware.
class PodsService final : public HostedService<PodsMonitor> {
 public:
  PodsService(Context context, const PodsOptions& options, const OpenMachine& open,
              PodsMonitor::Links links)
      : HostedService("pods", "usage", [=](loop::LoopThread& thread) {
          auto monitor = std::make_unique<PodsMonitor>(context.on(thread), options, open, links);
          monitor->start();
          return monitor;
        }) {}

  void reconfigure(const config::Settings& settings) override {
    use([patterns = settings.pods.ignore](PodsMonitor& monitor) { monitor.ignore(patterns); });
  }
};

}  // namespace railhead::agent
