// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "affinity/affinity.h"
#include "affinity/card_roles.h"
#include "affinity/expectations.h"
#include "affinity/facts.h"
#include "base/find.h"
#include "base/text.h"

namespace railhead::affinity {
namespace {

constexpr std::array kRoleNames = {
    std::pair{Role::compute, std::string_view("compute")},
    std::pair{Role::storage, std::string_view("storage")},
    std::pair{Role::management, std::string_view("management")},
    std::pair{Role::front_end, std::string_view("front-end")},
    std::pair{Role::nvlink_management, std::string_view("nvlink-management")},
    std::pair{Role::virtual_function, std::string_view("virtual-function")},
    std::pair{Role::unused, std::string_view("unused")},
    std::pair{Role::unknown, std::string_view("unknown")},
};

std::optional<RoleDecision> overridden(const node::Nic& nic, const node::PciDevice* function,
                                       const std::vector<RoleOverride>& overrides) {
  const auto* rule =
      find_where(overrides, [&](const RoleOverride& one) { return matches(one, nic, function); });
  if (rule == nullptr) return std::nullopt;
  return RoleDecision{rule->role, "set by configuration", "", true};
}

bool matches_any(std::string_view globs, std::string_view name) {
  const auto all = split(globs, ',');
  return std::ranges::any_of(all, [&](std::string_view glob) { return glob_match(glob, name); });
}

}  // namespace

bool matches(const NicSelector& selector, const node::Nic& nic, const node::PciDevice* function) {
  if (!selector.name_globs.empty() && !matches_any(selector.name_globs, nic.name)) return false;
  if (selector.pci && selector.pci != nic.pci) return false;
  if ((selector.vendor || selector.device) && function == nullptr) return false;
  if (selector.vendor && selector.vendor != function->vendor) return false;
  if (selector.device && selector.device != function->device) return false;
  if (selector.link_layer && selector.link_layer != link_layer_of(nic, function)) return false;
  return selector.netdev_glob.empty() ||
         std::ranges::any_of(nic.netdevs, [&](const std::string& netdev) {
           return glob_match(selector.netdev_glob, netdev);
         });
}

std::string_view to_string(Role role) {
  const auto* at = find_where(kRoleNames, [&](const auto& entry) { return entry.first == role; });
  return at != nullptr ? at->second : "unknown";
}

std::optional<Role> parse_role(std::string_view text) {
  const auto* at = find_where(kRoleNames, [&](const auto& entry) { return entry.second == text; });
  return at != nullptr ? std::optional(at->first) : std::nullopt;
}

std::vector<RoleDecision> decide_roles(const node::Node& node, const topology::Topology& topology,
                                       const OperatorRules& rules) {
  const NicFacts facts(node);
  const auto expected = expected_of(node, rules.expect);
  std::vector<std::optional<RoleDecision>> decisions(node.nics.size());
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (const auto* unused = expected[i].unused) {
      decisions[i] = RoleDecision{Role::unused, unused_text(*unused), "", true};
      continue;
    }
    decisions[i] = overridden(facts.nic(i), facts.function(i), rules.roles);
    if (!decisions[i]) decisions[i] = role_by_itself(facts, i);
  }
  judge_cards(facts, topology, decisions);
  std::vector<RoleDecision> all;
  for (auto& decision : decisions) all.push_back(std::move(decision).value_or(RoleDecision{}));
  return all;
}

}  // namespace railhead::affinity
