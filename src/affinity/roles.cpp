// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "affinity/affinity.h"
#include "affinity/card_roles.h"
#include "affinity/facts.h"
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
    std::pair{Role::unknown, std::string_view("unknown")},
};

bool matches(const RoleOverride& rule, const node::Nic& nic, const node::PciDevice* function) {
  if (!rule.name_glob.empty() && !glob_match(rule.name_glob, nic.name)) return false;
  if (rule.pci && rule.pci != nic.pci) return false;
  if ((rule.vendor || rule.device) && function == nullptr) return false;
  if (rule.vendor && rule.vendor != function->vendor) return false;
  if (rule.device && rule.device != function->device) return false;
  if (rule.link_layer && rule.link_layer != link_layer_of(nic, function)) return false;
  return rule.netdev_glob.empty() ||
         std::any_of(nic.netdevs.begin(), nic.netdevs.end(), [&](const std::string& netdev) {
           return glob_match(rule.netdev_glob, netdev);
         });
}

std::optional<RoleDecision> overridden(const node::Nic& nic, const node::PciDevice* function,
                                       const std::vector<RoleOverride>& overrides) {
  const auto rule = std::find_if(overrides.begin(), overrides.end(), [&](const RoleOverride& one) {
    return matches(one, nic, function);
  });
  if (rule == overrides.end()) return std::nullopt;
  return RoleDecision{rule->role, "set by configuration"};
}

}  // namespace

std::string_view to_string(Role role) {
  const auto* at = std::find_if(kRoleNames.begin(), kRoleNames.end(),
                                [&](const auto& entry) { return entry.first == role; });
  return at != kRoleNames.end() ? at->second : "unknown";
}

std::optional<Role> parse_role(std::string_view text) {
  const auto* at = std::find_if(kRoleNames.begin(), kRoleNames.end(),
                                [&](const auto& entry) { return entry.second == text; });
  if (at == kRoleNames.end()) return std::nullopt;
  return at->first;
}

std::vector<RoleDecision> decide_roles(const node::Node& node, const topology::Topology& topology,
                                       const std::vector<RoleOverride>& overrides) {
  const NicFacts facts(node);
  std::vector<std::optional<RoleDecision>> decisions(node.nics.size());
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    decisions[i] = overridden(facts.nic(i), facts.function(i), overrides);
    if (!decisions[i]) decisions[i] = role_by_itself(facts, i);
  }
  judge_cards(facts, topology, decisions);
  std::vector<RoleDecision> all;
  for (auto& decision : decisions) all.push_back(std::move(decision).value_or(RoleDecision{}));
  return all;
}

}  // namespace railhead::affinity
