// SPDX-License-Identifier: Apache-2.0
#include "agent/recent_creations.h"

namespace railhead::agent {

bool RecentCreations::note(const container::Identity& container) {
  const auto [at, is_new] =
      ids_.try_emplace(container.pod_uid + "/" + container.name, container.id);
  if (!is_new) {
    const bool again = at->second != container.id;
    at->second = container.id;
    return again;
  }
  order_.push_back(&at->first);
  if (order_.size() > kRemembered) {
    ids_.erase(ids_.find(*order_.front()));
    order_.pop_front();
  }
  return false;
}

}  // namespace railhead::agent
