// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "agent/context.h"
#include "agent/kubelet_options.h"
#include "agent/pool_publisher.h"
#include "agent/service.h"
#include "loop/hosted.h"
#include "loop/shared.h"

namespace railhead::agent {

/// The kubelet's service: a PoolPublisher on a thread of its own, since the kubelet's folders and
/// the files of allocations may wait.
class KubeletService final : public Service {
 public:
  KubeletService(Context context, KubeletOptions options, PoolPublisher::Links links);
  ~KubeletService() override;

  [[nodiscard]] std::string_view name() const override { return "kubelet"; }

  Status start() override;

  [[nodiscard]] Readiness readiness() const override { return readiness_.get(); }

  bool stop(std::chrono::milliseconds patience) override;

 private:
  Context context_;
  KubeletOptions options_;
  PoolPublisher::Links links_;
  loop::Shared<Readiness> readiness_{{false, "kubelet: starting"}};
  std::unique_ptr<loop::Hosted<PoolPublisher>> publisher_;
};

}  // namespace railhead::agent
