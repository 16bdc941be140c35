// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "container/holdings.h"
#include "host/clock.h"

namespace railhead::agent {

/// How long an answer of the kubelet serves the pod's other containers, which are created one after
/// another. What a pod holds is settled before its first container is created.
inline constexpr std::chrono::seconds kAnswerLife{30};
inline constexpr std::size_t kMostAnswers = 256;

/// What the kubelet said of pods, by their UID: a pod of the same name that comes later is another
/// one. An answer serves each container of its pod once; one that is created again is asked for.
class PodAnswers {
 public:
  explicit PodAnswers(host::Clock& clock)
      : clock_(clock) {}

  /// The answer for this container, valid until the next call; null: ask.
  const container::PodHoldings* find(std::string_view pod_uid, std::string_view container);

  /// Keeps an answer that was given for this container. The oldest goes where there are too many.
  void keep(std::string_view pod_uid, std::string_view container, container::PodHoldings holdings);

  [[nodiscard]] std::size_t size() const { return answers_.size(); }

 private:
  struct Answer {
    container::PodHoldings holdings;
    std::chrono::steady_clock::time_point ends_at{};
    std::set<std::string, std::less<>> served;
  };

  void forget_old();

  host::Clock& clock_;
  std::map<std::string, Answer, std::less<>> answers_;
  /// In the order in which they were kept, which is that of their ends. One that was replaced or
  /// has served is here until its end.
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::string>> ends_;
};

}  // namespace railhead::agent
