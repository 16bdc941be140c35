// SPDX-License-Identifier: Apache-2.0
#include "pools/judge.h"

#include <algorithm>
#include <charconv>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "pools/address_prefix.h"

namespace railhead::pools {
namespace {

constexpr std::size_t kShownValues = 4;

/// Netdevs that carry a default route, with everything below them (bonds, bridges, VLANs).
std::set<std::string> default_route_carriers(const node::Node& node) {
  std::set<std::string> carriers;
  for (const auto& netdev : node.netdevs) {
    if (netdev.default_route) carriers.insert(netdev.name);
  }
  for (bool grew = !carriers.empty(); grew;) {
    grew = false;
    for (const auto& netdev : node.netdevs) {
      if (netdev.master && carriers.contains(*netdev.master)) {
        grew = carriers.insert(netdev.name).second || grew;
      }
      if (!carriers.contains(netdev.name)) continue;
      for (const auto& lower : netdev.lower) grew = carriers.insert(lower).second || grew;
    }
  }
  return carriers;
}

/// Netdevs that are ports, with the bond or team above them. What is on a bridge stays a netdev of
/// its own.
std::map<std::string, std::string> bonds_of_ports(const node::Node& node) {
  std::map<std::string, std::string> bonds;
  for (const auto& netdev : node.netdevs) {
    const auto* master = netdev.master ? node.find_netdev(*netdev.master) : nullptr;
    if (master != nullptr && !master->is_bridge) bonds.emplace(netdev.name, master->name);
  }
  return bonds;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool matches(Match match, std::string_view value, std::string_view fact) {
  switch (match) {
    case Match::exact: return fact == value;
    case Match::any_case:
      return std::ranges::equal(fact, value, [](char a, char b) { return lower(a) == lower(b); });
    case Match::glob: return glob_match(value, fact);
  }
  return false;
}

bool is_fast_enough(const Condition& condition, std::string_view rate) {
  const auto least = parse_unsigned(condition.values.front()).value_or(0U);
  double gbps = 0;
  std::from_chars(rate.data(), rate.data() + rate.size(), gbps);
  return gbps >= static_cast<double>(least);
}

/// A function of a parent with that name or address, and with one of those numbers.
bool is_below(const Condition& condition, const NetFunction& function, std::string_view parent) {
  return std::ranges::any_of(condition.functions, [&](const auto& want) {
    if (!matches(condition.match, want.parent, parent)) return false;
    return want.ranges.empty() || (function.index && want.covers(*function.index));
  });
}

std::string list_text(std::vector<std::string> values, std::string_view between) {
  const bool cut = values.size() > kShownValues;
  if (cut) values.resize(kShownValues);
  return join(values, between) + (cut ? ", …" : "");
}

/// Which vDPA device counts, where a function has several: sriov-network-device-plugin takes one,
/// too (pkg/utils/vdpa_provider.go; there the one that the kernel lists first).
std::string which_vdpa(const node::Node& node, const NetFunction& function) {
  const auto* device = function.pci ? node.find_pci(*function.pci) : nullptr;
  if (device == nullptr || device->vdpa.size() < 2) return "";
  return " (" + device->vdpa.front().name + " counts, the first of its " +
         std::to_string(device->vdpa.size()) + " vDPA devices)";
}

bool has_too_long_a_name(const PoolSpec& spec, const NetFunction& function) {
  return function.id.size() + (spec.slots_per_nic ? 5 : 0) > kMaxDeviceIdLength;
}

bool is_of_kinds(const PoolSpec& spec, const NetFunction& function) {
  return contains(spec.kinds, function.kind);
}

}  // namespace

Judge::Judge(const node::Node& node, const std::vector<NetFunction>& functions,
             const std::vector<NicStatus>& statuses)
    : node_(node),
      by_address_(functions),
      statuses_(statuses),
      carriers_(default_route_carriers(node)),
      bonds_(bonds_of_ports(node)) {}

std::optional<std::size_t> Judge::selector_for(const PoolSpec& spec,
                                               const NetFunction& function) const {
  if (has_too_long_a_name(spec, function) || !is_of_kinds(spec, function)) return std::nullopt;
  if (is_unused(function)) return std::nullopt;
  if (excluding(spec, function) != nullptr) return std::nullopt;
  for (std::size_t i = 0; i < spec.include.size(); ++i) {
    const auto& selector = spec.include[i];
    if (unmet(selector, function) != nullptr) continue;
    if (selector.rdma && !has_rdma_device(function)) continue;
    if (spec.mode == PoolMode::shared || obstacle_to_exclusive(function).empty()) return i;
  }
  return std::nullopt;
}

std::string Judge::why_not(const PoolSpec& spec, const NetFunction& function) const {
  if (selector_for(spec, function)) return "";
  if (has_too_long_a_name(spec, function)) return "its name is too long for a device id";
  if (!is_of_kinds(spec, function)) {
    return "functions: it is a " + std::string(to_string(function.kind));
  }
  if (is_unused(function)) return statuses_[function.nics.front()].trouble;
  if (const auto* selector = excluding(spec, function)) {
    const auto& first = selector->conditions.front();
    return "exclude: " + first.key + ": " + list_text(first.values, ", ");
  }
  std::vector<std::string> failures;
  for (const auto& selector : spec.include) {
    auto failure = failure_text(selector, function);
    if (!contains(failures, failure)) {
      failures.push_back(std::move(failure));
    }
  }
  return failures.empty() ? "the pool selects nothing" : join(failures, "; or ");
}

const Selector* Judge::excluding(const PoolSpec& spec, const NetFunction& function) const {
  return find_where(spec.exclude,
                    [&](const Selector& selector) { return unmet(selector, function) == nullptr; });
}

const Condition* Judge::unmet(const Selector& selector, const NetFunction& function) const {
  return find_where(selector.conditions,
                    [&](const Condition& condition) { return !holds(condition, function); });
}

/// By the operator's word: no pod is to wait for what has no cable.
bool Judge::is_unused(const NetFunction& function) const {
  return !function.nics.empty() && std::ranges::all_of(function.nics, [&](std::size_t nic) {
    return nic < statuses_.size() && statuses_[nic].unused;
  });
}

bool Judge::lacks_driver(const PoolSpec& spec, const NetFunction& function) const {
  if (!is_of_kinds(spec, function) || excluding(spec, function) != nullptr) return false;
  const auto* device = function.pci ? node_.find_pci(*function.pci) : nullptr;
  if (device != nullptr && device->held_by_vfio()) return false;  // on purpose
  return std::ranges::any_of(spec.include, [&](const Selector& selector) {
    const bool usable = selector.rdma ? has_rdma_device(function) : !is_undriven(function);
    return !usable && unmet(selector, function) == nullptr;
  });
}

/// What nothing drives and nothing came of: no pod could use it.
bool Judge::is_undriven(const NetFunction& function) const {
  const auto* device = function.pci ? node_.find_pci(*function.pci) : nullptr;
  return device != nullptr && !device->driver && !has_rdma_device(function) &&
         function.netdevs.empty();
}

bool Judge::has_rdma_device(const NetFunction& function) const {
  return std::ranges::any_of(function.nics,
                             [&](std::size_t nic) { return node_.nics[nic].registered; });
}

bool Judge::holds(const Condition& condition, const NetFunction& function) const {
  const auto comparing = selector_of(condition.fact).comparing;
  if (comparing == Comparing::prefixes) return is_in_subnet(condition, function);
  const auto test = [&](std::string_view fact) {
    if (comparing == Comparing::functions) return is_below(condition, function, fact);
    if (comparing == Comparing::least) return is_fast_enough(condition, fact);
    return std::ranges::any_of(condition.values, [&](const std::string& value) {
      return matches(condition.match, value, fact);
    });
  };
  return any(condition.fact, function, test);
}

bool Judge::is_in_subnet(const Condition& condition, const NetFunction& function) const {
  std::vector<AddressPrefix> prefixes;
  for (const auto& value : condition.values) {
    const auto prefix = AddressPrefix::parse(value);
    if (prefix) prefixes.push_back(*prefix);
  }
  return any(condition.fact, function, [&](std::string_view gid) {
    return std::ranges::any_of(prefixes,
                               [&](const AddressPrefix& prefix) { return prefix.covers(gid); });
  });
}

std::vector<std::string> Judge::texts(Fact fact, const NetFunction& function) const {
  std::vector<std::string> texts;
  const auto add = [&](std::string_view text) {
    if (!contains(texts, text)) texts.emplace_back(text);
    return false;
  };
  static_cast<void>(any(fact, function, add));  // none holds, so all are asked
  return texts;
}

bool Judge::any(Fact fact, const NetFunction& function, const Test& test) const {
  const auto& row = selector_of(fact);
  Known known{.node = node_, .by_address = by_address_, .function = function};
  if (row.asked_of == AskedOf::function) return row.known(known, test);
  if (row.asked_of == AskedOf::device) {
    known.device = function.pci ? node_.find_pci(*function.pci) : nullptr;
    return known.device != nullptr && row.known(known, test);
  }
  for (const auto index : function.nics) {
    known.nic = &node_.nics[index];
    known.status = index < statuses_.size() ? &statuses_[index] : nullptr;
    if (row.asked_of == AskedOf::nic && row.known(known, test)) return true;
    if (row.asked_of != AskedOf::port) continue;
    for (const auto& port : known.nic->ports) {
      known.port = &port;
      if (row.known(known, test)) return true;
    }
  }
  return false;
}

std::string Judge::failure_text(const Selector& selector, const NetFunction& function) const {
  if (const auto* condition = unmet(selector, function)) return failure_text(*condition, function);
  if (selector.rdma && !has_rdma_device(function)) {
    return "it has no RDMA device (is its RDMA driver loaded?)";
  }
  return obstacle_to_exclusive(function);
}

std::string Judge::failure_text(const Condition& condition, const NetFunction& function) const {
  auto facts = texts(condition.fact, function);
  std::string text = condition.key + ": ";
  const auto note = condition.fact == Fact::vdpa_type ? which_vdpa(node_, function) : "";
  const auto& row = selector_of(condition.fact);
  const bool numbered = row.comparing == Comparing::functions;
  if (facts.empty()) {
    const bool child =
        function.kind == FunctionKind::virtual_ || function.kind == FunctionKind::scalable;
    return text.append(numbered && child ? "unknown" : row.when_unknown) + note;
  }
  if (numbered) {
    for (auto& fact : facts) {
      fact += "#" + (function.index ? std::to_string(*function.index) : "? (some are missing)");
    }
  }
  if (row.comparing == Comparing::least) {
    return text + list_text(facts, ", ") + " is below " + condition.values.front();
  }
  const bool single = condition.values.size() == 1;
  return text + list_text(facts, ", ") + (single ? " is not " : " is none of ") +
         list_text(condition.values, ", ") + note;
}

std::string Judge::obstacle_to_exclusive(const NetFunction& function) const {
  for (const auto& netdev : function.netdevs) {
    if (carriers_.contains(netdev)) return "its netdev " + netdev + " carries the default route";
    const auto bond = bonds_.find(netdev);
    if (bond != bonds_.end()) return "its netdev " + netdev + " is a port of " + bond->second;
  }
  const auto* device = function.pci ? node_.find_pci(*function.pci) : nullptr;
  if (is_undriven(function)) return "no driver is bound";
  const unsigned vfs = device != nullptr ? device->sriov_numvfs.value_or(0) : 0;
  if (function.kind == FunctionKind::physical && vfs > 0) {
    return "it has " + std::to_string(vfs) + " virtual functions enabled";
  }
  return "";
}

}  // namespace railhead::pools
