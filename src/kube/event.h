// SPDX-License-Identifier: Apache-2.0
//
// An Event of core/v1, the one that `kubectl describe` shows with "x5 over 2m": the server keeps
// one object, whose count is patched. (The same object is read as events.k8s.io/v1.)
// Source: Kubernetes staging/src/k8s.io/api/core/v1/types.go, type Event; kubectl
// pkg/describe/describe.go, DescribeEvents.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "kube/messages.h"

namespace railhead::kube {

/// What an Event is about.
struct EventObject {
  std::string kind;              ///< "Pod", "Node"
  std::string object_namespace;  ///< "" for what is in none: its Events are in "default"
  std::string name;
  std::string uid;  ///< of a Node its name, as the kubelet does: kubectl looks for both

  friend auto operator<=>(const EventObject&, const EventObject&) = default;
};

struct Event {
  EventObject about;
  std::string reason;   ///< "RdmaRequiredNotMet"
  std::string message;  ///< of the last time; what is above 1,024 bytes is cut
  std::uint64_t count = 1;
  std::chrono::system_clock::time_point first{};
  std::chrono::system_clock::time_point last{};
};

/// A name for a new Event: "pod-a.17f3c2". `number` tells those of one object apart. It is a DNS
/// subdomain of at most 253 bytes, as the name of the object is.
std::string event_name(const EventObject& about, std::uint64_t number);

/// Makes the Event, a warning. `node` is who says it.
Request create_event(const Event& event, std::string_view name, std::string_view node);

/// Asks whether create_event() would be done; the server keeps nothing.
/// Source: Kubernetes staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go, CreateOptions.
Request try_create_event(const Event& event, std::string_view name, std::string_view node);

/// The one of this name happened again: count, time and message are those of `event`.
Request repeat_event(const Event& event, std::string_view name);

}  // namespace railhead::kube
