// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "agent/context.h"
#include "agent/pods_monitor.h"
#include "agent/service.h"
#include "loop/hosted.h"

namespace railhead {

/// Who uses RDMA: a PodsMonitor on a thread of its own.
class PodsService final : public Service {
 public:
  PodsService(Context context, PodsOptions options, PodsMonitor::Open open, const TableFeed& tables,
              ContainerBook& book);
  ~PodsService() override;

  Status start() override;
  void reconfigure(const Config& config) override;
  bool stop(std::chrono::milliseconds patience) override;

  /// The last look as a Pods document; "" before the first.
  [[nodiscard]] std::string page() const { return page_.get(); }

 private:
  Context context_;
  PodsOptions options_;
  PodsMonitor::Open open_;
  const TableFeed& tables_;
  ContainerBook& book_;
  Shared<std::string> page_;
  std::unique_ptr<Hosted<PodsMonitor>> monitor_;
};

}  // namespace railhead
