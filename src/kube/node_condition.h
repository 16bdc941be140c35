// SPDX-License-Identifier: Apache-2.0
//
// Conditions in the status of a Node. They are a list that is merged by type, so a patch touches
// those that it names, and no other's.
// Source: Kubernetes staging/src/k8s.io/api/core/v1/types.go, type NodeCondition, and
// patchMergeKey of NodeStatus.Conditions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/value.h"
#include "kube/messages.h"

namespace railhead::kube {

struct NodeCondition {
  std::string type;
  std::string status;  ///< "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::string heartbeat;   ///< lastHeartbeatTime: "2026-11-21T03:31:00Z"
  std::string transition;  ///< lastTransitionTime: since when the status is so

  friend bool operator==(const NodeCondition&, const NodeCondition&) = default;
};

/// All conditions of a Node; what is malformed among them is left out.
std::vector<NodeCondition> conditions_in(const data::Value& node);

/// Reads a Node with its status, which needs `get` of nodes/status alone.
Request get_node_status(std::string_view node);

/// Writes these conditions of a Node, which needs `patch` of nodes/status alone.
Request patch_conditions(std::string_view node, const std::vector<NodeCondition>& conditions);

}  // namespace railhead::kube
