// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "node/again.h"
#include "node/node.h"
#include "node/reader.h"
#include "node/sysfs_class.h"

namespace railhead::node {

/// Netdevs by the default routes that they hold, in the network namespace of process 1 (an agent's
/// own need not be the node's); where that cannot be seen, in our own.
struct DefaultRoutes {
  std::set<std::string> holders;  ///< of any, IPv4 or IPv6
  /// Those of the route that the node's own traffic takes: the IPv4 route of the lowest metric,
  /// else the IPv6 routes, which every interface learns by itself where a router announces one.
  std::set<std::string> main;
};

DefaultRoutes read_default_routes(Reader& reader);

/// Netdevs as the node has them. What stands above a kept one (master) and below a kept virtual one
/// (lower_*) is kept too.
class NetdevList {
 public:
  /// Adds what stands above and below named netdevs, since each says something of the other.
  void add_relatives(host::MachineChanges::Names& named) const;

  /// Reads the default routes, and the netdevs that are new, named, or of a named function. `net`
  /// are the entries of /sys/class/net; `wanted` names netdevs to keep besides those of PCI
  /// functions. Sorted by name.
  std::vector<Netdev> refresh(Reader& reader, const ClassList& net,
                              const std::set<std::string>& wanted, Again again);

  void report(Reader& reader) const;

 private:
  struct Item {
    Netdev netdev;
    std::vector<Problem> problems;
    bool fresh = true;  ///< read at the last refresh()
  };

  /// Keeps a netdev, and those above and below it.
  void keep(Reader& reader, const ClassList& net, const std::string& name, const Again& again);

  std::map<std::string, Item, std::less<>> items_;
  std::map<std::string, Item, std::less<>> before_;  ///< during refresh(): the last reading
  std::vector<const Item*> in_order_;                ///< as they were looked for
  std::vector<Problem> problems_;                    ///< of the routes
};

}  // namespace railhead::node
