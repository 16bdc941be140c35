// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "node/node.h"
#include "node/reader.h"
#include "node/sysfs_class.h"

namespace railhead {

/// Netdevs by the default routes that they hold, in the network namespace of process 1 (an agent's
/// own need not be the node's); where that cannot be seen, in our own.
struct DefaultRoutes {
  std::set<std::string> holders;  ///< of any, IPv4 or IPv6
  /// Of the one that the node's own traffic takes: IPv4's of the lowest metric; only where there is
  /// none, IPv6's, which every interface learns by itself where a router announces one.
  std::set<std::string> main;
};

DefaultRoutes read_default_routes(Reader& reader);

/// `net` are the entries of /sys/class/net; `wanted` names netdevs to keep besides those of PCI
/// functions. What stands above a kept one (master) and below a kept virtual one (lower_*) is kept
/// too. Sorted by name.
std::vector<Netdev> read_netdevs(Reader& reader, const std::vector<ClassEntry>& net,
                                 const std::set<std::string>& wanted);

}  // namespace railhead
