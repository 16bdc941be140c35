// SPDX-License-Identifier: Apache-2.0
#include "agent/pod_answers.h"

#include <algorithm>
#include <utility>

namespace railhead {

const PodHoldings* PodAnswers::find(std::string_view pod_uid, std::string_view container) {
  const auto now = clock_.now();
  std::erase_if(answers_, [&](const auto& one) { return one.second.ends_at <= now; });
  const auto at = answers_.find(pod_uid);
  if (at == answers_.end()) return nullptr;
  if (at->second.served.emplace(container).second) return &at->second.holdings;
  answers_.erase(at);
  return nullptr;
}

void PodAnswers::keep(std::string_view pod_uid, std::string_view container, PodHoldings holdings) {
  if (pod_uid.empty()) return;
  if (answers_.size() >= kMostAnswers && answers_.find(pod_uid) == answers_.end()) {
    const auto oldest = std::min_element(
        answers_.begin(), answers_.end(),
        [](const auto& a, const auto& b) { return a.second.ends_at < b.second.ends_at; });
    answers_.erase(oldest);
  }
  answers_.insert_or_assign(
      std::string(pod_uid),
      Answer{std::move(holdings), clock_.now() + kAnswerLife, {std::string(container)}});
}

}  // namespace railhead
