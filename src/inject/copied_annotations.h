// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "container/request.h"
#include "inject/decide.h"

namespace railhead {

/// A container's annotations come from the kubelet, which has them from device plugins. But CRI-O
/// copies the pod's into them, and containerd those of configured patterns, so a key that also
/// stands on the pod may be the pod author's and proves nothing.
bool stands_on_pod(const ContainerRequest& request, std::string_view key);

Remark copied_annotation(std::string_view key);

}  // namespace railhead
