// SPDX-License-Identifier: Apache-2.0
//
// Policies of NVIDIA's network operator that do not go together.
// Source: Mellanox/network-operator api/v1alpha1/validator/nicpolicy_webhook.go,
// pkg/policyoverlap/overlap.go, at b06827e.
#include "lint/nic_policies.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "lint/rule.h"

namespace railhead::lint {
namespace {

constexpr std::array kNodeSections = {"ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin"};

void same_section(const Given& given, Found& found) {
  const auto clusters = given.of_kind("NicClusterPolicy");
  if (clusters.empty()) return;
  for (const auto* policy : given.of_kind("NicNodePolicy")) {
    for (const auto* section : kNodeSections) {
      const auto* own = entry_of(below(policy->root, {"spec"}), section);
      const auto& cluster = *clusters.front();
      if (own == nullptr || below(cluster.root, {"spec", section}) == nullptr) continue;
      found.add(*policy, own, std::string(section) + " stands in " + cluster.label() + ", too");
    }
  }
}

/// Each is compared with so many before it: a cluster has a few.
constexpr std::size_t kMostCompared = 256;

void same_nodes(const Given& given, Found& found) {
  const auto policies = given.of_kind("NicNodePolicy");
  for (std::size_t i = 1; i < policies.size(); ++i) {
    const auto* policy = policies[i];
    const auto* selector = below(policy->root, {"spec", "nodeSelector"});
    for (std::size_t j = i - std::min(i, kMostCompared); j < i; ++j) {
      const auto* other = policies[j];
      if (other->name == policy->name || are_for_other_nodes(*other, *policy)) continue;
      found.add(*policy, selector != nullptr ? selector : &policy->root,
                "the nodes of its nodeSelector are also of " + other->label());
      break;
    }
  }
}

constexpr Rule kNicPolicyRules[] = {
    {"operator.same-section", "A section stands in a NicClusterPolicy and in a NicNodePolicy.",
     Severity::fail,
     "The operator's webhook refuses the second: two drivers or two plugins would run on a node.",
     "Keep the section in one of them: in the NicClusterPolicy for all nodes, or in "
     "NicNodePolicies.",
     "", same_section},
    {"operator.same-nodes", "Two NicNodePolicies select the same nodes.", Severity::fail,
     "The operator's webhook refuses the second where a node has the labels of both.",
     "Give each its own label, or make one policy of them.", "", same_nodes},
};

}  // namespace

std::vector<const Object*> nic_policies(const Given& given) {
  auto all = given.of_kind("NicClusterPolicy");
  const auto more = given.of_kind("NicNodePolicy");
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool takes_all_of(const data::Value* selector, const data::Value* other) {
  const auto takes = [](const data::Value* wide, const data::Value* narrow) {
    return wide == nullptr || std::ranges::all_of(wide->entries, [&](const auto& entry) {
             const auto* value = below(narrow, {entry.key});
             return value != nullptr && value->scalar == entry.value.scalar;
           });
  };
  return takes(selector, other) || takes(other, selector);
}

bool are_for_other_nodes(const Object& a, const Object& b) {
  if (a.kind != "NicNodePolicy" || b.kind != "NicNodePolicy") return false;
  return !takes_all_of(below(a.root, {"spec", "nodeSelector"}),
                       below(b.root, {"spec", "nodeSelector"}));
}

std::span<const Rule> nic_policy_rules() {
  return kNicPolicyRules;
}

}  // namespace railhead::lint
