// SPDX-License-Identifier: Apache-2.0
#include "node/netdev_reader.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace railhead {
namespace {

constexpr std::uint64_t kRouteUp = 0x0001;      // RTF_UP, linux/route.h
constexpr std::uint64_t kRouteReject = 0x0200;  // RTF_REJECT

bool usable(std::string_view flags_text) {
  const auto flags = parse_hex(flags_text);
  return flags && (*flags & kRouteUp) != 0 && (*flags & kRouteReject) == 0;
}

/// Iface Destination Gateway Flags RefCnt Use Metric Mask …, numbers in hexadecimal.
std::optional<std::string> default_of_ipv4(const std::vector<std::string_view>& words) {
  if (words.size() < 8 || words[1] != "00000000" || words[7] != "00000000") return std::nullopt;
  if (!usable(words[3])) return std::nullopt;
  return std::string(words[0]);
}

/// Destination, prefix length, source, its length, next hop, metric, refcnt, use, flags, device.
std::optional<std::string> default_of_ipv6(const std::vector<std::string_view>& words) {
  if (words.size() != 10 || words[1] != "00" || !usable(words[8]) || words[9] == "lo") {
    return std::nullopt;
  }
  if (words[0].find_first_not_of('0') != std::string_view::npos) return std::nullopt;
  return std::string(words[9]);
}

using RowReader = std::optional<std::string> (*)(const std::vector<std::string_view>&);

void collect(Reader& reader, const std::string& file, RowReader row, std::set<std::string>& into) {
  auto text = reader.raw("/proc/1/net/" + file);
  if (!text) text = reader.raw("/proc/net/" + file);
  if (!text) return;
  for (const auto line : split(*text, '\n')) {
    auto name = row(split_words(line));
    if (name && is_plain_text(*name)) into.insert(*std::move(name));
  }
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
    if (const auto master = reader_.link(entry.path + "/master")) {
      netdev.master = base_name(*master);
    }
    if (!entry.pci) netdev.lower = lower_of(entry);
    return netdev;
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

std::set<std::string> read_default_routes(Reader& reader) {
  std::set<std::string> holders;
  collect(reader, "route", default_of_ipv4, holders);
  collect(reader, "ipv6_route", default_of_ipv6, holders);
  return holders;
}

std::vector<Netdev> read_netdevs(Reader& reader, const std::vector<ClassEntry>& net,
                                 const std::set<std::string>& wanted) {
  const auto default_routes = read_default_routes(reader);
  NetdevCollector collector(reader, net);
  for (const auto& entry : net) {
    if (entry.pci) collector.keep(entry.name);
  }
  for (const auto& name : wanted) collector.keep(name);
  for (const auto& name : default_routes) collector.keep(name);
  std::vector<Netdev> netdevs;
  for (auto& [name, netdev] : collector.take()) {
    netdev.default_route = default_routes.contains(name);
    netdevs.push_back(std::move(netdev));
  }
  return netdevs;
}

}  // namespace railhead
