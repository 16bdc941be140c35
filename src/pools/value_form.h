// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "pools/pool_spec.h"

namespace railhead::pools {

/// Why no function of any machine has this value of a plugin's selector, with what was probably
/// meant; "" where one may have it. Plugins compare letter by letter with what the kernel prints,
/// names of physical functions and root devices in any case.
/// Source: k8snetworkplumbingwg/sriov-network-device-plugin pkg/resources/deviceSelectors.go,
/// Mellanox/k8s-rdma-shared-dev-plugin pkg/resources/device_selectors.go.
std::string why_nothing_has(Fact fact, std::string_view text);

}  // namespace railhead::pools
