// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "container/remarks.h"
#include "container/request.h"

namespace railhead::inject {

/// A container's annotations come from the kubelet, which has them from device plugins. But CRI-O
/// copies the pod's into them, and containerd those of configured patterns, so a key that also
/// stands on the pod may be the pod author's and proves nothing.
class CopiedAnnotations {
 public:
  /// What a pod may have of one kind; who has more has written them to cost time, and none of that
  /// kind on the container proves anything.
  static constexpr std::size_t kMost = 256;

  /// Looks at keys with this prefix.
  CopiedAnnotations(const container::Request& request, std::string_view prefix)
      : request_(request),
        prefix_(prefix) {}

  /// The pod's are looked through once, at the first question.
  bool stands_on_pod(std::string_view key);

 private:
  void collect();

  const container::Request& request_;
  std::string_view prefix_;
  bool collected_ = false;
  bool too_many_ = false;
  std::unordered_set<std::string_view> keys_;
};

void add_copied_remark(std::string_view key, container::Remarks& remarks);

}  // namespace railhead::inject
