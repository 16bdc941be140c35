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

/// The NICs that a server can give to clients: those that are named, else all with an active port.
/// `left_out` gets the reason for each other one; the error has them all where none is
/// left.
Result<std::vector<std::string>> served_nics(const node::Node& node,
                                             const std::vector<std::string>& named,
                                             std::optional<unsigned> gid_index,
                                             std::vector<std::string>& left_out);

}  // namespace railhead::bench
