// SPDX-License-Identifier: Apache-2.0
#include "kube/node_condition.h"

#include "data/below.h"
#include "data/json.h"

namespace railhead::kube {
namespace {

std::string status_target(std::string_view node) {
  return "/api/v1/nodes/" + encoded(node) + "/status";
}

data::Json condition_json(const NodeCondition& condition) {
  return {{"type", condition.type},
          {"status", condition.status},
          {"reason", condition.reason},
          {"message", condition.message},
          {"lastHeartbeatTime", condition.heartbeat},
          {"lastTransitionTime", condition.transition}};
}

}  // namespace

std::vector<NodeCondition> conditions_in(const data::Value& node) {
  std::vector<NodeCondition> conditions;
  for (const auto& item : data::items_below(node, {"status", "conditions"})) {
    const auto text = [&](const char* key) { return std::string(data::text_below(item, {key})); };
    NodeCondition condition{text("type"),
                            text("status"),
                            text("reason"),
                            text("message"),
                            text("lastHeartbeatTime"),
                            text("lastTransitionTime")};
    if (!condition.type.empty()) conditions.push_back(std::move(condition));
  }
  return conditions;
}

Request get_node_status(std::string_view node) {
  return get(status_target(node));
}

Request patch_conditions(std::string_view node, const std::vector<NodeCondition>& conditions) {
  const data::Json patch = {
      {"status", {{"conditions", data::json_list(conditions, condition_json)}}}};
  return strategic_merge_patch(status_target(node), patch);
}

}  // namespace railhead::kube
