// SPDX-License-Identifier: Apache-2.0
#include "pools/judge.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "pools/address_prefix.h"

namespace railhead {
namespace {

constexpr std::size_t kShownValues = 4;

/// Netdevs that carry a default route, with everything below them (bonds, bridges, VLANs).
std::set<std::string> default_route_carriers(const Node& node) {
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

bool matches(const Condition& condition, const std::string& fact) {
  return std::any_of(condition.values.begin(), condition.values.end(), [&](const auto& value) {
    switch (condition.match) {
      case Match::exact: return fact == value;
      case Match::any_case: return to_lower(fact) == to_lower(value);
      case Match::glob: return glob_match(value, fact);
    }
    return false;
  });
}

bool is_fast_enough(const Condition& condition, const std::vector<std::string>& rates) {
  const auto least = parse_unsigned(condition.values.front()).value_or(0U);
  return std::any_of(rates.begin(), rates.end(), [&](const std::string& rate) {
    double gbps = 0;
    std::from_chars(rate.data(), rate.data() + rate.size(), gbps);
    return gbps >= static_cast<double>(least);
  });
}

bool is_in_subnet(const Condition& condition, const std::vector<std::string>& gids) {
  return std::any_of(condition.values.begin(), condition.values.end(), [&](const auto& value) {
    const auto prefix = AddressPrefix::parse(value);
    return prefix && std::any_of(gids.begin(), gids.end(),
                                 [&](const auto& gid) { return prefix->covers(gid); });
  });
}

std::string list_text(std::vector<std::string> values, std::string_view between) {
  const bool cut = values.size() > kShownValues;
  if (cut) values.resize(kShownValues);
  return join(values, between) + (cut ? ", …" : "");
}

/// What is said where a fact is not known at all.
std::string silence(Fact fact, const NetFunction& function) {
  const bool child =
      function.kind == FunctionKind::virtual_ || function.kind == FunctionKind::scalable;
  switch (fact) {
    case Fact::netdev: return "it has no network interface";
    case Fact::driver: return "no driver is bound";
    case Fact::pf_name:
    case Fact::root_device: return child ? "unknown" : "it is neither a VF nor an SF";
    case Fact::auxiliary_type: return "it is no auxiliary device";
    case Fact::rate_gbps: return "no port is ACTIVE";
    case Fact::numa_node: return "its NUMA node is not known";
    case Fact::acpi_index: return "the firmware gives it no number";
    case Fact::ddp_package: return "no driver names its package (devlink, fw.app.name)";
    case Fact::rdma_name: return "it has no RDMA device";
    case Fact::vdpa_type: return "it has no vDPA device of vhost_vdpa or virtio_vdpa";
    default: return "not known";
  }
}

/// Which vDPA device counts, where a function has several: sriov-network-device-plugin takes one,
/// too (pkg/utils/vdpa_provider.go; there the one that the kernel lists first).
std::string which_vdpa(const Node& node, const NetFunction& function) {
  const auto* device = function.pci ? node.find_pci(*function.pci) : nullptr;
  if (device == nullptr || device->vdpa.size() < 2) return "";
  return " (" + device->vdpa.front().name + " counts, the first of its " +
         std::to_string(device->vdpa.size()) + " vDPA devices)";
}

}  // namespace

Judge::Judge(const Node& node, const std::vector<NetFunction>& functions,
             const std::vector<NicStanding>& standings)
    : node_(node),
      facts_(node, functions, standings),
      carriers_(default_route_carriers(node)) {}

Verdict Judge::judge(const PoolSpec& spec, const NetFunction& function) const {
  if (function.id.size() + (spec.slots_per_nic ? 5 : 0) > kMaxDeviceIdLength) {
    return {{}, "its name is too long for a device id"};
  }
  if (std::find(spec.kinds.begin(), spec.kinds.end(), function.kind) == spec.kinds.end()) {
    return {{}, "functions: it is a " + std::string(to_string(function.kind))};
  }
  for (std::size_t i = 0; i < spec.exclude.size(); ++i) {
    const auto& conditions = spec.exclude[i].conditions;
    const bool excluded = std::all_of(conditions.begin(), conditions.end(),
                                      [&](const auto& one) { return holds(one, function); });
    if (!excluded) continue;
    return {
        {},
        "exclude: " + conditions.front().key + ": " + list_text(conditions.front().values, ", ")};
  }
  std::vector<std::string> failures;
  for (std::size_t i = 0; i < spec.include.size(); ++i) {
    auto failure = failure_of(spec.include[i], function);
    if (failure.empty() && spec.mode == PoolMode::exclusive) {
      failure = obstacle_to_exclusive(function);
    }
    if (failure.empty()) return {i, ""};
    if (std::find(failures.begin(), failures.end(), failure) == failures.end()) {
      failures.push_back(std::move(failure));
    }
  }
  return {{}, failures.empty() ? "the pool selects nothing" : join(failures, "; or ")};
}

std::string Judge::failure_of(const Selector& selector, const NetFunction& function) const {
  for (const auto& condition : selector.conditions) {
    if (!holds(condition, function)) return failure_text(condition, function);
  }
  if (!selector.rdma) return "";
  const bool registered = std::any_of(function.nics.begin(), function.nics.end(),
                                      [&](std::size_t nic) { return node_.nics[nic].registered; });
  return registered ? "" : "it has no RDMA device (is its RDMA driver loaded?)";
}

bool Judge::holds(const Condition& condition, const NetFunction& function) const {
  switch (condition.fact) {
    case Fact::pf_name:
    case Fact::root_device: return is_below(condition, function);
    case Fact::rate_gbps: return is_fast_enough(condition, facts_.told(condition.fact, function));
    case Fact::subnet: return is_in_subnet(condition, facts_.told(condition.fact, function));
    default: break;
  }
  const auto facts = facts_.told(condition.fact, function);
  return std::any_of(facts.begin(), facts.end(),
                     [&](const auto& fact) { return matches(condition, fact); });
}

std::string Judge::failure_text(const Condition& condition, const NetFunction& function) const {
  auto facts = facts_.told(condition.fact, function);
  std::string text = condition.key + ": ";
  const auto note = condition.fact == Fact::vdpa_type ? which_vdpa(node_, function) : "";
  if (facts.empty()) return text + silence(condition.fact, function) + note;
  const bool numbered = condition.fact == Fact::pf_name || condition.fact == Fact::root_device;
  if (numbered) {
    for (auto& fact : facts) {
      fact += "#" + (function.index ? std::to_string(*function.index) : "? (some are missing)");
    }
  }
  if (condition.fact == Fact::rate_gbps) {
    return text + list_text(facts, ", ") + " is below " + condition.values.front();
  }
  const bool single = condition.values.size() == 1;
  return text + list_text(facts, ", ") + (single ? " is not " : " is none of ") +
         list_text(condition.values, ", ") + note;
}

/// A function of a parent with that name or address, and with one of those numbers.
bool Judge::is_below(const Condition& condition, const NetFunction& function) const {
  const auto parents = facts_.told(condition.fact, function);
  return std::any_of(condition.functions.begin(), condition.functions.end(), [&](const auto& want) {
    const Condition name{condition.fact, "", {want.parent}, condition.match, {}};
    const bool right_parent = std::any_of(parents.begin(), parents.end(),
                                          [&](const auto& one) { return matches(name, one); });
    if (!right_parent) return false;
    return want.ranges.empty() || (function.index && want.covers(*function.index));
  });
}

std::string Judge::obstacle_to_exclusive(const NetFunction& function) const {
  for (const auto& netdev : function.netdevs) {
    if (carriers_.contains(netdev)) return "its netdev " + netdev + " carries the default route";
  }
  const auto* device = function.pci ? node_.find_pci(*function.pci) : nullptr;
  const unsigned vfs = device != nullptr ? device->sriov_numvfs.value_or(0) : 0;
  if (function.kind == FunctionKind::physical && vfs > 0) {
    return "it has " + std::to_string(vfs) + " virtual functions enabled";
  }
  return "";
}

}  // namespace railhead
