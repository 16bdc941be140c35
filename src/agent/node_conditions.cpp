// SPDX-License-Identifier: Apache-2.0
//
// Sources: Kubernetes api core/v1 NodeCondition, whose list is merged by `type`
// (patchMergeKey of NodeStatus.Conditions), so that a patch names our conditions alone;
// kubernetes/node-problem-detector, which writes them in the same way.
#include "agent/node_conditions.h"

#include <utility>

#include "agent/node_name.h"
#include "host/clock.h"
#include "host/input_file.h"

namespace railhead::agent {
namespace {

std::string status_of(const checks::ConditionState& state) {
  switch (state.outcome) {
    case checks::Outcome::good: return "False";
    case checks::Outcome::problem: return "True";
    case checks::Outcome::unknown: break;
  }
  return "Unknown";
}

std::string reason_of(const checks::ConditionState& state) {
  switch (state.outcome) {
    case checks::Outcome::good: return std::string(state.condition->good_reason);
    case checks::Outcome::problem: return std::string(state.condition->bad_reason);
    case checks::Outcome::unknown: break;
  }
  return "NotAllIsKnown";
}

std::string text_at(const data::Value& map, std::string_view key) {
  const auto* value = map.find(key);
  return value == nullptr ? std::string() : value->scalar;
}

}  // namespace

NodeConditions::NodeConditions(Context context, NodeConditionsOptions options)
    : context_(context),
      options_(std::move(options)),
      client_(context.loop,
              [this] { return kube::read_access(options_.access, host::read_file_at_once); }) {
  options_.node = kubernetes_node_name(options_.node);
}

void NodeConditions::take(std::vector<checks::ConditionState> states) {
  wanted_ = std::move(states);
  is_newer_ = is_asking_;
  if (!is_asking_) ask();
}

/// What the object has already is asked for once: only so is known since when a condition holds
/// that an agent before has written.
void NodeConditions::ask() {
  is_asking_ = true;
  if (has_learned_) return write();
  const auto request = kube::get("/api/v1/nodes/" + kube::encoded(options_.node));
  client_.send(request, [this, request](const Result<kube::Answer>& answer) {
    if (!answer) return ended(answer.error());
    const auto node = kube::object_in(request, *answer);
    if (!node) return ended(node.error());
    learn(*node);
    write();
  });
}

void NodeConditions::learn(const data::Value& node) {
  has_learned_ = true;
  const auto* status = node.find("status");
  const auto* conditions = status == nullptr ? nullptr : status->find("conditions");
  if (conditions == nullptr) return;
  for (const auto& one : conditions->items) {
    known_[text_at(one, "type")] = {text_at(one, "status"), text_at(one, "lastTransitionTime")};
  }
}

data::Json NodeConditions::patch() {
  const auto now = host::utc_text(context_.clock.calendar());
  auto conditions = data::Json::array();
  for (const auto& state : wanted_) {
    const auto status = status_of(state);
    auto& known = known_[std::string(state.condition->type)];
    if (known.status != status || known.since.empty()) known = {status, now};
    conditions.push_back({{"type", state.condition->type},
                          {"status", status},
                          {"reason", reason_of(state)},
                          {"message", state.message},
                          {"lastHeartbeatTime", now},
                          {"lastTransitionTime", known.since}});
  }
  return {{"status", {{"conditions", std::move(conditions)}}}};
}

void NodeConditions::write() {
  const auto request = kube::strategic_merge_patch(
      "/api/v1/nodes/" + kube::encoded(options_.node) + "/status", patch());
  client_.send(request, [this, request](const Result<kube::Answer>& answer) {
    if (!answer) return ended(answer.error());
    ended(answer->is_ok() ? Status() : Status(kube::refusal(request, *answer)));
  });
}

/// A failure is not tried again before the next look, which has newer news.
void NodeConditions::ended(const Status& outcome) {
  is_asking_ = false;
  if (outcome) {
    context_.metrics.node_condition_updates.add("done");
    said_.clear();
  } else {
    context_.metrics.node_condition_updates.add("failed");
    has_learned_ = false;
  }
  if (!outcome && said_ != outcome.error().message) {
    said_ = outcome.error().message;
    context_.log.write(config::LogLevel::warn, "node conditions not set",
                       {{"node", options_.node}, {"why", said_}});
  }
  if (std::exchange(is_newer_, false) && outcome) ask();
}

}  // namespace railhead::agent
