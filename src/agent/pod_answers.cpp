// SPDX-License-Identifier: Apache-2.0
#include "agent/pod_answers.h"

#include <utility>

namespace railhead::agent {
namespace {

/// About what it takes in memory.
std::size_t bytes_of(const container::PodHoldings& holdings) {
  std::size_t bytes = sizeof holdings;
  for (const auto& container : holdings.containers) {
    bytes += sizeof container + container.container.size();
    for (const auto& devices : container.devices) {
      bytes += sizeof devices + devices.resource.size();
      for (const auto& id : devices.ids) bytes += sizeof(std::string) + id.size();
    }
  }
  return bytes;
}

}  // namespace

void PodAnswers::erase(Answers::iterator at) {
  bytes_ -= at->second.bytes;
  answers_.erase(at);
}

void PodAnswers::forget(std::string_view pod_uid) {
  const auto at = answers_.find(pod_uid);
  if (at != answers_.end()) erase(at);
}

void PodAnswers::forget_old() {
  const auto now = clock_.now();
  while (!ends_.empty() &&
         (ends_.front().first <= now || ends_.size() > kMostAnswers || bytes_ > kMostAnswerBytes)) {
    const auto at = answers_.find(ends_.front().second);
    if (at != answers_.end() && at->second.ends_at == ends_.front().first) erase(at);
    ends_.pop_front();
  }
}

const container::PodHoldings* PodAnswers::find(std::string_view pod_uid,
                                               std::string_view container) {
  forget_old();
  const auto at = answers_.find(pod_uid);
  if (at == answers_.end()) return nullptr;
  if (at->second.served.emplace(container).second) return &at->second.holdings;
  erase(at);
  return nullptr;
}

void PodAnswers::keep(std::string_view pod_uid, container::PodHoldings holdings) {
  if (pod_uid.empty()) return;
  forget(pod_uid);
  Answer answer{std::move(holdings), clock_.now() + kAnswerLife, 0, {}};
  answer.bytes = bytes_of(answer.holdings);
  if (answer.bytes > kMostAnswerBytes) return;
  bytes_ += answer.bytes;
  ends_.emplace_back(answer.ends_at, pod_uid);
  answers_.emplace(pod_uid, std::move(answer));
  forget_old();
}

void PodAnswers::keep(std::string_view pod_uid, std::string_view container,
                      container::PodHoldings holdings) {
  keep(pod_uid, std::move(holdings));
  const auto at = answers_.find(pod_uid);
  if (at != answers_.end()) at->second.served.emplace(container);
}

}  // namespace railhead::agent
