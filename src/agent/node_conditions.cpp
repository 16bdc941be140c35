// SPDX-License-Identifier: Apache-2.0
#include "agent/node_conditions.h"

#include <algorithm>
#include <utility>

#include "host/input_file.h"
#include "loop/call_after.h"

namespace railhead::agent {
namespace {

constexpr std::chrono::milliseconds kLongestAsked{300000};  ///< of what the server asks us to wait

std::string status_of(checks::Outcome outcome) {
  switch (outcome) {
    case checks::Outcome::problem: return "True";
    case checks::Outcome::good: return "False";
    case checks::Outcome::unknown: break;
  }
  return "Unknown";
}

bool says_the_same(const kube::NodeCondition& a, const kube::NodeCondition& b) {
  return a.status == b.status && a.reason == b.reason && a.message == b.message;
}

}  // namespace

NodeConditions::NodeConditions(Context context, NodeConditionsOptions options,
                               const loop::Shared<checks::LatestConditions>& seen,
                               std::function<void(std::string)> report)
    : context_(context),
      options_(std::move(options)),
      seen_(seen),
      report_(std::move(report)),
      timer_(context.loop),
      client_(
          context.loop,
          [this] { return kube::read_access(options_.access, host::read_file_at_once); },
          kube::kNodeLimits),
      retries_(options_.first_retry, options_.longest_retry, kLongestAsked) {}

void NodeConditions::start() {
  look();
  loop::call_after(timer_, options_.look_every, [this] { start(); });
}

/// The last look, or that there was none for too long. Nothing before the first one.
std::optional<checks::ConditionsSeen> NodeConditions::latest() const {
  const auto seen = seen_.get();
  if (!seen) return std::nullopt;
  if (context_.clock.now() - seen->at < options_.stale_after) return *seen;
  const auto why = "no look since " + host::utc_text(seen->when) + ": reading the machine hangs";
  return checks::ConditionsSeen{checks::unknown_conditions(why), seen->at + options_.stale_after,
                                seen->when + options_.stale_after};
}

void NodeConditions::look() {
  if (is_asking_ || context_.clock.now() < not_before_) return;
  const auto seen = latest();
  if (!seen) return;
  if (!there_) return read(*seen);
  auto conditions = wanted(*seen);
  if (is_due(*seen, conditions)) write(*seen, std::move(conditions));
}

/// What an agent before has written: since when it is so stays.
void NodeConditions::read(const checks::ConditionsSeen& seen) {
  is_asking_ = true;
  const auto request = kube::get_node_status(options_.node);
  client_.send(request, [this, request, seen](const Result<kube::Answer>& answer) {
    is_asking_ = false;
    if (!answer) return failed(answer.error(), {});
    const auto node = kube::object_in(request, *answer);
    if (!node) return failed(node.error(), answer->retry_after);
    there_.emplace();
    for (auto& one : kube::conditions_in(*node)) {
      const auto is_ours = [&](const checks::ConditionRow& row) { return row.type == one.type; };
      if (std::ranges::any_of(checks::condition_rows(), is_ours)) {
        there_->insert_or_assign(one.type, std::move(one));
      }
    }
    auto conditions = wanted(seen);
    if (!conditions.empty()) write(seen, std::move(conditions));
  });
}

NodeConditions::Conditions NodeConditions::wanted(const checks::ConditionsSeen& seen) const {
  Conditions all;
  const auto when = host::utc_text(seen.when);
  for (const auto& one : seen.conditions) {
    const auto at = there_->find(one.type);
    if (at == there_->end() && one.outcome == checks::Outcome::unknown) continue;
    kube::NodeCondition condition{std::string(one.type),
                                  status_of(one.outcome),
                                  std::string(one.reason),
                                  one.message,
                                  when,
                                  when};
    const bool is_same = at != there_->end() && at->second.status == condition.status;
    if (is_same && !at->second.transition.empty()) condition.transition = at->second.transition;
    all.push_back(std::move(condition));
  }
  return all;
}

bool NodeConditions::is_due(const checks::ConditionsSeen& seen, const Conditions& all) const {
  if (all.empty() || seen.at == written_look_) return false;
  const bool is_news = std::ranges::any_of(all, [&](const kube::NodeCondition& one) {
    const auto at = there_->find(one.type);
    return at == there_->end() || !says_the_same(at->second, one);
  });
  return is_news || context_.clock.now() - written_at_ >= options_.heartbeat;
}

void NodeConditions::write(const checks::ConditionsSeen& seen, Conditions conditions) {
  is_asking_ = true;
  const auto request = kube::patch_conditions(options_.node, conditions);
  client_.send(request, [this, request, look = seen.at,
                         conditions = std::move(conditions)](const Result<kube::Answer>& answer) {
    is_asking_ = false;
    if (!answer) return failed(answer.error(), {});
    if (!answer->is_ok()) return failed(kube::refusal(request, *answer), answer->retry_after);
    for (const auto& one : conditions) there_->insert_or_assign(one.type, one);
    written_at_ = context_.clock.now();
    written_look_ = look;
    not_before_ = written_at_ + options_.shortest_gap;
    retries_.succeeded();
    said_.clear();
    report_("node conditions: written");
    context_.metrics.node_conditions.add("written");
  });
}

void NodeConditions::failed(const Error& why, std::optional<std::chrono::seconds> asked) {
  if (said_ != why.message) {
    context_.log.write(config::LogLevel::warn, "node conditions not written",
                       {{"node", options_.node}, {"why", why.message}});
  }
  said_ = why.message;
  report_("node conditions: not written, trying again: " + why.message);
  there_.reset();
  not_before_ = context_.clock.now() + retries_.next(asked);
  context_.metrics.node_conditions.add("failed");
}

}  // namespace railhead::agent
