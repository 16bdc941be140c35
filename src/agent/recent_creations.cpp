// SPDX-License-Identifier: Apache-2.0
#include "agent/recent_creations.h"

namespace railhead {

bool RecentCreations::note(const ContainerRequest& request) {
  const auto key = std::string(request.pod_uid) + "/" + std::string(request.name);
  const auto [at, is_new] = ids_.try_emplace(key, request.id);
  if (!is_new) {
    const bool again = at->second != request.id;
    at->second = request.id;
    return again;
  }
  order_.push_back(key);
  if (order_.size() > kRemembered) {
    ids_.erase(order_.front());
    order_.pop_front();
  }
  return false;
}

}  // namespace railhead
