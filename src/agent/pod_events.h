// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "agent/event_outbox.h"
#include "container/facts.h"
#include "inject/decide.h"
#include "proof/pods.h"

namespace railhead::agent {

/// What is worth an Event of Kubernetes: of the pod, with all that there is to say, and of the
/// node, with the name of the pod alone. Events of nodes are in the namespace `default`, which
/// people read who may not read the pod's.
class PodEvents {
 public:
  /// `node` is its name in Kubernetes.
  PodEvents(EventOutbox& outbox, std::string node)
      : outbox_(outbox),
        node_(std::move(node)) {}

  void decided(const container::Identity& container, const inject::Decision& decision);
  void fell_back(const proof::PodUse& pod);

 private:
  void tell(const container::Identity& container, std::string_view reason,
            const std::string& message);

  EventOutbox& outbox_;
  std::string node_;
};

}  // namespace railhead::agent
