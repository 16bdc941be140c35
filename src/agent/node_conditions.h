// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/context.h"
#include "checks/conditions.h"
#include "kube/client.h"

namespace railhead::agent {

struct NodeConditionsOptions {
  std::string node;  ///< its name in Kubernetes; "": the host name
  kube::AccessSource access;
};

/// Writes what the doctor says into the conditions of the Node object, after each look. It touches
/// no other condition. Lives on a thread of its own: it reads files.
class NodeConditions {
 public:
  NodeConditions(Context context, NodeConditionsOptions options);

  /// What the last look said. While the API server is asked, only the newest is kept.
  void take(std::vector<checks::ConditionState> states);

 private:
  /// What the Node object has of a condition.
  struct Known {
    std::string status;  ///< "True", "False", "Unknown"
    std::string since;   ///< lastTransitionTime
  };

  void ask();
  void write();
  [[nodiscard]] data::Json patch();
  void ended(const Status& outcome);
  void learn(const data::Value& node);

  Context context_;
  NodeConditionsOptions options_;
  kube::Client client_;
  std::vector<checks::ConditionState> wanted_;
  std::map<std::string, Known, std::less<>> known_;  ///< by type
  bool has_learned_ = false;
  bool is_asking_ = false;
  bool is_newer_ = false;  ///< something came while the server was asked
  std::string said_;       ///< last, to the log
};

}  // namespace railhead::agent
