// SPDX-License-Identifier: Apache-2.0
#include "agent/pods_service.h"

#include <utility>

namespace railhead::agent {

PodsService::PodsService(Context context, PodsOptions options, PodsMonitor::Open open,
                         PodsMonitor::Links links)
    : context_(context),
      options_(std::move(options)),
      open_(std::move(open)),
      links_(links) {}

PodsService::~PodsService() = default;

Status PodsService::start() {
  monitor_ = TRY(loop::Hosted<PodsMonitor>::start("usage", [this](loop::LoopThread& thread) {
    const Context there = context_.on(thread);
    auto monitor = std::make_unique<PodsMonitor>(there, options_, open_, links_);
    monitor->start();
    return monitor;
  }));
  return {};
}

void PodsService::reconfigure(const config::Settings& settings) {
  if (!monitor_) return;
  monitor_->use(
      [patterns = settings.pods.ignore](PodsMonitor& monitor) { monitor.ignore(patterns); });
}

bool PodsService::stop(std::chrono::milliseconds patience) {
  return !monitor_ || monitor_->end(patience);
}

}  // namespace railhead::agent
