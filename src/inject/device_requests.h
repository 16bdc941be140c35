// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "inject/decide.h"

namespace railhead::inject {

/// The NICs that a device annotation names in ways that can be met at all, sorted. Everything else
/// in it is refused with a remark: a path that is no RDMA device of this node, umad and issm that
/// policy does not list. Stated numbers that are not the node's are ignored with a remark.
std::vector<std::size_t> asked_nics(
    const container::Asked<std::vector<container::AskedDevice>>& devices,
    const DecisionTable& table, container::Remarks& remarks);

}  // namespace railhead::inject
