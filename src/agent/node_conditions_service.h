// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "agent/hosted_service.h"
#include "agent/node_conditions.h"

namespace railhead::agent {

/// The conditions of the Node object: NodeConditions, which waits for the API server. Always ready:
/// what the agent does for containers needs no API server.
class NodeConditionsService final : public HostedService<NodeConditions> {
 public:
  NodeConditionsService(Context context, const NodeConditionsOptions& options)
      : HostedService("node conditions", "conditions", [=](loop::LoopThread& thread) {
          return std::make_unique<NodeConditions>(context.on(thread), options);
        }) {}

  /// What a look said, on the deciding thread.
  void take(std::vector<checks::ConditionState> states) {
    use([states = std::move(states)](NodeConditions& conditions) { conditions.take(states); });
  }
};

}  // namespace railhead::agent
