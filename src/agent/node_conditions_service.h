// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "agent/hosted_service.h"
#include "agent/node_conditions.h"
#include "loop/shared.h"

namespace railhead::agent {

/// Conditions of the node in Kubernetes: a NodeConditions, which waits for the API server. It is
/// always ready: what the agent does for containers needs no API server.
class NodeConditionsService final : public HostedService<NodeConditions> {
 public:
  NodeConditionsService(Context context, const NodeConditionsOptions& options,
                        const loop::Shared<checks::LatestConditions>& seen)
      : HostedService("node conditions", "conditions", [=, &seen, this](loop::LoopThread& thread) {
          auto conditions = std::make_unique<NodeConditions>(
              context.on(thread), options, seen,
              [this](std::string text) { text_.set(std::move(text)); });
          conditions->start();
          return conditions;
        }) {}

  [[nodiscard]] Readiness readiness() const override { return {true, text_.get()}; }

 private:
  loop::Shared<std::string> text_{"node conditions: no look yet"};
};

}  // namespace railhead::agent
