// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "inject/container.h"
#include "inject/decide.h"

namespace railhead {

/// A container's annotations come from the kubelet, which has them from device plugins. But CRI-O
/// copies the pod's into them, and containerd those of configured patterns, so a key that also
/// stands on the pod may be the pod author's and proves nothing.
bool stands_on_pod(const ContainerRequest& request, std::string_view key);

Remark copied_annotation(std::string_view key);

/// Reports `allocation.railhead.io/<resource>` annotations that no pool of this node stands behind.
/// Pools will take those that are theirs out of it.
void report_foreign_allocations(const ContainerRequest& request, std::vector<Remark>& remarks);

}  // namespace railhead
