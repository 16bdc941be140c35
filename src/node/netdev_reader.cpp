// SPDX-License-Identifier: Apache-2.0
#include "node/netdev_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/contains.h"
#include "base/text.h"
#include "base/utf8.h"

namespace railhead::node {
namespace {

constexpr std::uint64_t kRouteUp = 0x0001;      // RTF_UP, linux/route.h
constexpr std::uint64_t kRouteReject = 0x0200;  // RTF_REJECT
constexpr std::uint64_t kInterfaceUp = 0x0001;  // IFF_UP, linux/if.h
constexpr std::uint64_t kAllFlags = 0xffffffff;

bool usable(std::string_view flags_text) {
  const auto flags = parse_hex(flags_text);
  return flags && (*flags & kRouteUp) != 0 && (*flags & kRouteReject) == 0;
}

/// Where a row of a table is a default route.
struct Route {
  std::string netdev;
  std::uint64_t metric = 0;
};

/// Iface Destination Gateway Flags RefCnt Use Metric Mask …, in hexadecimal except RefCnt, Use and
/// Metric (Linux net/ipv4/fib_trie.c, fib_route_seq_show()).
std::optional<Route> default_of_ipv4(const std::vector<std::string_view>& words) {
  if (words.size() < 8 || words[1] != "00000000" || words[7] != "00000000") return std::nullopt;
  const auto metric = parse_unsigned(words[6]);
  if (!metric || !usable(words[3])) return std::nullopt;
  return Route{std::string(words[0]), *metric};
}

/// Destination, prefix length, source, its length, next hop, metric, refcnt, use, flags, device;
/// the metric in hexadecimal (Linux net/ipv6/ip6_fib.c, ipv6_route_native_seq_show()).
std::optional<Route> default_of_ipv6(const std::vector<std::string_view>& words) {
  if (words.size() != 10 || words[1] != "00" || !usable(words[8]) || words[9] == "lo") {
    return std::nullopt;
  }
  if (words[0].find_first_not_of('0') != std::string_view::npos) return std::nullopt;
  const auto metric = parse_hex(words[5]);
  if (!metric) return std::nullopt;
  return Route{std::string(words[9]), *metric};
}

using RowReader = std::optional<Route> (*)(const std::vector<std::string_view>&);

/// Adds the holders of a family's default routes; those of the lowest metric are returned.
std::set<std::string> collect(Reader& reader, const std::string& file, RowReader row,
                              std::set<std::string>& holders) {
  std::set<std::string> first;
  auto text = reader.raw("/proc/1/net/" + file, host::keep_routes);
  if (!text) text = reader.raw("/proc/net/" + file, host::keep_routes);
  if (!text) return first;
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  for (const auto line : split(*text, '\n')) {
    const auto route = row(split_words(line));
    if (!route || !is_plain_text(route->netdev)) continue;
    holders.insert(route->netdev);
    if (route->metric < lowest) first.clear();
    lowest = std::min(lowest, route->metric);
    if (route->metric == lowest) first.insert(route->netdev);
  }
  return first;
}

/// `carrier` of a netdev that is down answers EINVAL. Source: Linux net/core/net-sysfs.c.
void take_link(Reader& reader, const ClassEntry& entry, Netdev& netdev) {
  const auto flags = reader.number(entry.path + "/flags", kAllFlags);
  if (!flags) return;
  netdev.up = (*flags & kInterfaceUp) != 0;
  if (!*netdev.up) return;
  const auto carrier = reader.text_if_any(entry.path + "/carrier");
  if (carrier) netdev.carrier = *carrier == "1";
}

/// What stands below a virtual netdev: the links lower_<name> (Linux net/core/dev.c,
/// netdev_adjacent_sysfs_add()). A bridge has a folder of its own (net/bridge/br_sysfs_br.c), and
/// so has a bond; a team, an OVS switch and a VRF have none.
void take_stack(Reader& reader, const ClassEntry& entry, Netdev& netdev) {
  static constexpr std::string_view kPrefix = "lower_";
  for (const auto& name : reader.names(entry.path)) {
    if (name.starts_with(kPrefix)) netdev.lower.push_back(name.substr(kPrefix.size()));
    netdev.is_bridge = netdev.is_bridge || name == "bridge";
  }
}

Netdev read_netdev(Reader& reader, const ClassEntry& entry) {
  Netdev netdev;
  netdev.name = entry.name;
  netdev.pci = entry.pci;
  netdev.operstate = reader.text(entry.path + "/operstate");
  take_link(reader, entry, netdev);
  if (const auto master = reader.link(entry.path + "/master")) {
    netdev.master = host::base_name(*master);
  }
  if (!entry.pci) take_stack(reader, entry, netdev);
  return netdev;
}

/// Those directly above and below.
std::vector<std::string> neighbours(const Netdev& netdev) {
  std::vector<std::string> names;
  if (netdev.master) names.push_back(*netdev.master);
  names.insert(names.end(), netdev.lower.begin(), netdev.lower.end());
  return names;
}

/// What stands below named ones, as it is now: a bond that comes is the master of what was there.
void add_lower(Reader& reader, const ClassList& net, host::MachineChanges::Names& named) {
  host::MachineChanges::Names lower;
  for (const auto& name : named) {
    const auto at = net.items.find(name);
    if (at == net.items.end() || at->second.entry.pci) continue;
    Netdev stacked;
    take_stack(reader, at->second.entry, stacked);
    lower.insert(stacked.lower.begin(), stacked.lower.end());
  }
  named.merge(lower);
}

}  // namespace

DefaultRoutes read_default_routes(Reader& reader) {
  DefaultRoutes routes;
  routes.main = collect(reader, "route", default_of_ipv4, routes.holders);
  auto ipv6 = collect(reader, "ipv6_route", default_of_ipv6, routes.holders);
  if (routes.main.empty()) routes.main = std::move(ipv6);
  return routes;
}

void NetdevList::add_relatives(host::MachineChanges::Names& named) const {
  std::vector<std::string> todo(named.begin(), named.end());
  while (!todo.empty()) {
    const std::string name = std::move(todo.back());
    todo.pop_back();
    for (const auto& [other, item] : items_) {
      const auto next = neighbours(item.netdev);
      const bool is_near = contains(next, name);
      if (is_near && named.insert(other).second) todo.push_back(other);
    }
    const auto at = items_.find(name);
    if (at == items_.end()) continue;
    for (auto& other : neighbours(at->second.netdev)) {
      if (named.insert(other).second) todo.push_back(std::move(other));
    }
  }
}

void NetdevList::keep(Reader& reader, const ClassList& net, const std::string& name,
                      const Again& again) {
  std::vector<std::pair<std::string, bool>> todo{
      {name, false}};  // and whether its neighbour is new
  while (!todo.empty()) {
    const auto [next, beside_fresh] = std::move(todo.back());
    todo.pop_back();
    const auto listed = net.items.find(next);
    if (listed == net.items.end()) continue;
    auto at = items_.find(next);
    const bool is_kept = at != items_.end();
    if (is_kept && (at->second.fresh || !beside_fresh)) continue;
    auto known = before_.extract(next);
    const bool take_known =
        known && !listed->second.fresh && !again.netdevs.contains(next) && !beside_fresh;
    if (take_known) {
      known.mapped().fresh = false;
      at = items_.insert(std::move(known)).position;
    } else {
      Item item{.netdev = read_netdev(reader, listed->second.entry), .problems = {}};
      item.problems = reader.take_problems();
      at = items_.insert_or_assign(next, std::move(item)).first;
    }
    if (!is_kept) in_order_.push_back(&at->second);
    for (auto& other : neighbours(at->second.netdev)) {
      todo.emplace_back(std::move(other), at->second.fresh && !again.everything);
    }
  }
}

std::vector<Netdev> NetdevList::refresh(Reader& reader, const ClassList& net,
                                        const std::set<std::string>& wanted, Again again) {
  const auto routes = read_default_routes(reader);
  problems_ = reader.take_problems();
  add_lower(reader, net, again.netdevs);
  reader.take_problems();  // what is kept is read anyway
  before_ = std::exchange(items_, {});
  in_order_.clear();
  for (const auto& [name, listed] : net.items) {
    if (listed.entry.pci) keep(reader, net, name, again);
  }
  for (const auto& name : wanted) keep(reader, net, name, again);
  for (const auto& name : routes.holders) keep(reader, net, name, again);
  before_.clear();
  std::vector<Netdev> netdevs;
  netdevs.reserve(items_.size());
  for (const auto& [name, item] : items_) {
    Netdev& netdev = netdevs.emplace_back(item.netdev);
    netdev.default_route = routes.holders.contains(name);
    netdev.main_route = routes.main.contains(name);
  }
  return netdevs;
}

void NetdevList::report(Reader& reader) const {
  reader.report(problems_);
  for (const auto* item : in_order_) reader.report(item->problems);
}

}  // namespace railhead::node
