// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/context.h"
#include "agent/pods_monitor.h"
#include "agent/service.h"
#include "loop/hosted.h"

namespace railhead::agent {

/// Who uses RDMA: a PodsMonitor on a thread of its own.
class PodsService final : public Service {
 public:
  PodsService(Context context, PodsOptions options, PodsMonitor::Open open,
              PodsMonitor::Links links);
  ~PodsService() override;

  [[nodiscard]] std::string_view name() const override { return "pods"; }

  Status start() override;
  void reconfigure(const config::Settings& settings) override;
  bool stop(std::chrono::milliseconds patience) override;

 private:
  Context context_;
  PodsOptions options_;
  PodsMonitor::Open open_;
  PodsMonitor::Links links_;
  std::unique_ptr<loop::Hosted<PodsMonitor>> monitor_;
};

}  // namespace railhead::agent
