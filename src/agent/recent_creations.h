// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "container/facts.h"

namespace railhead::agent {

/// Remembers the containers that were adjusted last. Our answer can be right and the creation fail
/// all the same, when a plugin behind us sets what we set; NRI tells nobody. What can be seen is
/// that the kubelet asks again: the same container of the same pod, under a new id.
class RecentCreations {
 public:
  /// A node has 110 pods by default; each of these takes some 250 bytes.
  static constexpr std::size_t kRemembered = 256;

  /// Notes an adjusted container; true if its pod and name were adjusted before under another id.
  bool note(const container::Identity& container);

 private:
  std::unordered_map<std::string, std::string> ids_;  ///< by pod uid and container name
  std::deque<const std::string*> order_;              ///< their keys, the oldest first
};

}  // namespace railhead::agent
