// SPDX-License-Identifier: Apache-2.0
#include "node/netdev_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/text.h"

namespace railhead {
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

/// Iface Destination Gateway Flags RefCnt Use Metric Mask …, in hexadecimal but for RefCnt, Use and
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
  auto text = reader.raw("/proc/1/net/" + file);
  if (!text) text = reader.raw("/proc/net/" + file);
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

class NetdevCollector {
 public:
  NetdevCollector(Reader& reader, const std::vector<ClassEntry>& net)
      : reader_(reader) {
    for (const auto& entry : net) entries_.emplace(entry.name, &entry);
  }

  /// Keeps a netdev, and those above and below it.
  void keep(const std::string& name) {
    std::vector<std::string> names{name};
    while (!names.empty()) {
      const std::string next = std::move(names.back());
      names.pop_back();
      const auto entry = entries_.find(next);
      if (entry == entries_.end() || kept_.contains(next)) continue;
      const auto& netdev = kept_.emplace(next, read(*entry->second)).first->second;
      if (netdev.master) names.push_back(*netdev.master);
      names.insert(names.end(), netdev.lower.begin(), netdev.lower.end());
    }
  }

  std::map<std::string, Netdev> take() { return std::move(kept_); }

 private:
  Netdev read(const ClassEntry& entry) {
    Netdev netdev;
    netdev.name = entry.name;
    netdev.pci = entry.pci;
    netdev.operstate = reader_.text(entry.path + "/operstate");
    take_link(entry, netdev);
    if (const auto master = reader_.link(entry.path + "/master")) {
      netdev.master = base_name(*master);
    }
    if (!entry.pci) netdev.lower = lower_of(entry);
    return netdev;
  }

  /// `carrier` of a netdev that is down answers EINVAL. Source: Linux net/core/net-sysfs.c.
  void take_link(const ClassEntry& entry, Netdev& netdev) {
    const auto flags = reader_.number(entry.path + "/flags", kAllFlags);
    if (!flags) return;
    netdev.up = (*flags & kInterfaceUp) != 0;
    if (!*netdev.up) return;
    const auto carrier = reader_.text_if_any(entry.path + "/carrier");
    if (carrier) netdev.carrier = *carrier == "1";
  }

  /// The links lower_<name> of a stacked netdev. Source: Linux net/core/dev.c,
  /// netdev_adjacent_sysfs_add().
  std::vector<std::string> lower_of(const ClassEntry& entry) {
    static constexpr std::string_view kPrefix = "lower_";
    std::vector<std::string> lower;
    for (const auto& name : reader_.names(entry.path)) {
      if (name.starts_with(kPrefix)) lower.push_back(name.substr(kPrefix.size()));
    }
    return lower;
  }

  Reader& reader_;
  std::map<std::string, const ClassEntry*> entries_;
  std::map<std::string, Netdev> kept_;
};

}  // namespace

DefaultRoutes read_default_routes(Reader& reader) {
  DefaultRoutes routes;
  routes.main = collect(reader, "route", default_of_ipv4, routes.holders);
  auto ipv6 = collect(reader, "ipv6_route", default_of_ipv6, routes.holders);
  if (routes.main.empty()) routes.main = std::move(ipv6);
  return routes;
}

std::vector<Netdev> read_netdevs(Reader& reader, const std::vector<ClassEntry>& net,
                                 const std::set<std::string>& wanted) {
  const auto routes = read_default_routes(reader);
  NetdevCollector collector(reader, net);
  for (const auto& entry : net) {
    if (entry.pci) collector.keep(entry.name);
  }
  for (const auto& name : wanted) collector.keep(name);
  for (const auto& name : routes.holders) collector.keep(name);
  std::vector<Netdev> netdevs;
  for (auto& [name, netdev] : collector.take()) {
    netdev.default_route = routes.holders.contains(name);
    netdev.main_route = routes.main.contains(name);
    netdevs.push_back(std::move(netdev));
  }
  return netdevs;
}

}  // namespace railhead
