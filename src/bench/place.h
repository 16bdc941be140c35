// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/lane.h"
#include "node/node.h"

namespace railhead::bench {

/// Where a lane begins, for "mlx5_0" (its first active port) or "mlx5_0:2". The GID is the given
/// one, else for Ethernet the best of the port: RoCE v2 before v1, an IPv4 address before a global
/// one before a link-local one, the lowest index of these; for InfiniBand none. The error names
/// what the node has instead.
Result<Place> find_place(const node::Node& node, std::string_view name,
                         std::optional<unsigned> gid_index);

/// Names of the NICs with an active port, as find_place() takes them.
std::vector<std::string> active_nics(const node::Node& node);

}  // namespace railhead::bench
