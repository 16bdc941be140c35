// SPDX-License-Identifier: Apache-2.0
#include "agent/recent_creations.h"

namespace railhead::agent {

bool RecentCreations::note(const container::Identity& container) {
  const auto key = container.pod_uid + "/" + container.name;
  const auto [at, is_new] = ids_.try_emplace(key, container.id);
  if (!is_new) {
    const bool again = at->second != container.id;
    at->second = container.id;
    return again;
  }
  order_.push_back(key);
  if (order_.size() > kRemembered) {
    ids_.erase(order_.front());
    order_.pop_front();
  }
  return false;
}

}  // namespace railhead::agent
