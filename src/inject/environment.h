// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "affinity/affinity.h"
#include "container/request.h"
#include "inject/decide.h"

namespace railhead::inject {

/// True if the container has the variable, whatever its value, an empty one included.
bool has_variable(const container::Request& request, std::string_view name);

/// The variables that make communication libraries use exactly these NICs: NCCL_IB_HCA, by policy
/// UCX_NET_DEVICES and NVSHMEM's. They name ports that are ACTIVE and nothing else, so none is
/// there where no port is. What the container has is left out. `nics` and `choices` are indices
/// into the node; `choices` says which GPU uses which NIC and may be empty.
std::vector<std::pair<std::string, std::string>> environment_for(
    const container::Request& request, const DecisionTable& table,
    const std::vector<std::size_t>& nics, const std::vector<affinity::GpuChoice>& choices);

}  // namespace railhead::inject
