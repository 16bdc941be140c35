// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_set>

#include "container/remarks.h"
#include "container/request.h"

namespace railhead {

/// A container's annotations come from the kubelet, which has them from device plugins. But CRI-O
/// copies the pod's into them, and containerd those of configured patterns, so a key that also
/// stands on the pod may be the pod author's and proves nothing.
class CopiedAnnotations {
 public:
  explicit CopiedAnnotations(const ContainerRequest& request)
      : request_(request) {}

  /// For keys of allocations and of CDI names only. The pod's are looked through once, at the first
  /// question: both sides may have thousands.
  bool stands_on_pod(std::string_view key);

 private:
  const ContainerRequest& request_;
  bool collected_ = false;
  std::unordered_set<std::string_view> keys_;
};

void add_copied_remark(std::string_view key, Remarks& remarks);

}  // namespace railhead
