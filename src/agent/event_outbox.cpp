// SPDX-License-Identifier: Apache-2.0
#include "agent/event_outbox.h"

#include <algorithm>
#include <utility>

namespace railhead::agent {

void EventOutbox::note(kube::EventObject about, std::string_view reason, std::string message) {
  const auto now = clock_.calendar();
  const std::lock_guard lock(mutex_);
  const auto at = find(about, reason);
  if (at != waiting_.end()) {
    ++at->count;
    at->last = now;
    at->message = std::move(message);
  } else if (waiting_.size() >= kMostWaiting) {
    metrics_.kube_events.add("dropped");
  } else {
    waiting_.push_back({std::move(about), std::string(reason), std::move(message), 1, now, now});
  }
}

std::optional<kube::Event> EventOutbox::take(const std::function<bool(const kube::Event&)>& may) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find_if(waiting_, may);
  if (at == waiting_.end()) return std::nullopt;
  auto event = std::move(*at);
  waiting_.erase(at);
  return event;
}

void EventOutbox::put_back(kube::Event event) {
  const std::lock_guard lock(mutex_);
  const auto at = find(event.about, event.reason);
  if (at != waiting_.end()) {
    at->count += event.count;
    at->first = event.first;
  } else if (waiting_.size() >= kMostWaiting) {
    metrics_.kube_events.add("dropped");
  } else {
    waiting_.push_front(std::move(event));
  }
}

std::list<kube::Event>::iterator EventOutbox::find(const kube::EventObject& about,
                                                   std::string_view reason) {
  return std::ranges::find_if(
      waiting_, [&](const kube::Event& one) { return one.reason == reason && one.about == about; });
}

}  // namespace railhead::agent
