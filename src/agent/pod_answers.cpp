// SPDX-License-Identifier: Apache-2.0
#include "agent/pod_answers.h"

#include <utility>

namespace railhead::agent {

void PodAnswers::forget_old() {
  const auto now = clock_.now();
  while (!ends_.empty() && (ends_.front().first <= now || ends_.size() > kMostAnswers)) {
    const auto at = answers_.find(ends_.front().second);
    if (at != answers_.end() && at->second.ends_at == ends_.front().first) answers_.erase(at);
    ends_.pop_front();
  }
}

const container::PodHoldings* PodAnswers::find(std::string_view pod_uid,
                                               std::string_view container) {
  forget_old();
  const auto at = answers_.find(pod_uid);
  if (at == answers_.end()) return nullptr;
  if (at->second.served.emplace(container).second) return &at->second.holdings;
  answers_.erase(at);
  return nullptr;
}

void PodAnswers::keep(std::string_view pod_uid, std::string_view container,
                      container::PodHoldings holdings) {
  if (pod_uid.empty()) return;
  const auto ends_at = clock_.now() + kAnswerLife;
  answers_.insert_or_assign(std::string(pod_uid),
                            Answer{std::move(holdings), ends_at, {std::string(container)}});
  ends_.emplace_back(ends_at, pod_uid);
  forget_old();
}

}  // namespace railhead::agent
