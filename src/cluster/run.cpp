// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "cluster/checks.h"

namespace railhead::cluster {
namespace {

/// The visible list: every file of checks, in order.
constexpr std::array kGroups = {node_checks, operator_checks, workload_checks};

}  // namespace

const std::vector<const ClusterCheck*>& all_checks() {
  static const auto every = [] {
    std::vector<const ClusterCheck*> all;
    for (const auto group : kGroups) {
      for (const auto& check : group()) all.push_back(&check);
    }
    return all;
  }();
  return every;
}

const ClusterCheck* find_check(std::string_view id) {
  const auto& all = all_checks();
  const auto at =
      std::ranges::find_if(all, [&](const ClusterCheck* check) { return check->row.id == id; });
  return at == all.end() ? nullptr : *at;
}

std::vector<checks::Finding> run_checks(const Cluster& cluster,
                                        const std::vector<const ClusterCheck*>& checks) {
  std::vector<checks::Finding> all;
  for (const auto* check : checks) {
    checks::Findings found(check->row);
    check->look(cluster, found);
    auto some = found.take(kCluster);
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

report::Report list_of_checks() {
  std::vector<const checks::Check*> rows;
  for (const auto* check : all_checks()) rows.push_back(&check->row);
  return checks::list_of_checks(rows);
}

const Listing* known(const Cluster& cluster, std::string_view kind, checks::Findings& found) {
  const auto& listing = cluster.kind(kind);
  if (listing.problem.empty()) return &listing;
  found.unknown(kCluster, listing.problem, {{listing.target, "", listing.problem}});
  return nullptr;
}

checks::Evidence evidence_of(const Listing& listing, const data::Value& object,
                             std::string_view field, std::string value) {
  return {listing.target + ": " + object_name(object) + " " + std::string(field), std::move(value),
          ""};
}

}  // namespace railhead::cluster
