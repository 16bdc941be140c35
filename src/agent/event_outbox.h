// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "agent/metrics.h"
#include "host/clock.h"
#include "kube/event.h"

namespace railhead::agent {

/// Events of pods and of the node, until they have been posted. From any thread;
/// nobody waits: what happens again to one object for one reason is one event with a count, and
/// what finds no room is lost and counted.
class EventOutbox {
 public:
  static constexpr std::size_t kMostWaiting = 256;

  EventOutbox(Metrics& metrics, host::Clock& clock)
      : metrics_(metrics),
        clock_(clock) {}

  void note(kube::EventObject about, std::string_view reason, std::string message);

  /// Takes out the first one that may be posted now.
  std::optional<kube::Event> take(const std::function<bool(const kube::Event&)>& may);

  /// One that was taken could not be posted.
  void put_back(kube::Event event);

 private:
  std::list<kube::Event>::iterator find(const kube::EventObject& about, std::string_view reason);

  Metrics& metrics_;
  host::Clock& clock_;
  std::mutex mutex_;
  std::list<kube::Event> waiting_;
};

}  // namespace railhead::agent
