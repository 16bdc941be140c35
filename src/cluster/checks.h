// SPDX-License-Identifier: Apache-2.0
//
// Checks of a cluster: like those of a node (checks/check.h), except for what they look at.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "checks/check.h"
#include "checks/report.h"
#include "cluster/cluster.h"

namespace railhead::cluster {

struct ClusterCheck {
  checks::Check row;  ///< `look` is not set
  void (*look)(const Cluster& cluster, checks::Findings& found) = nullptr;
};

std::span<const ClusterCheck> node_checks();      ///< nodes and what they offer
std::span<const ClusterCheck> operator_checks();  ///< drivers, plugins and their operators
std::span<const ClusterCheck> workload_checks();  ///< pods, their logs, manifests

/// Every check, in the order in which they are made.
const std::vector<const ClusterCheck*>& all_checks();

/// nullptr where no check has this id.
const ClusterCheck* find_check(std::string_view id);

/// What these checks find; every finding has evidence, except SKIP.
std::vector<checks::Finding> run_checks(const Cluster& cluster,
                                        const std::vector<const ClusterCheck*>& checks);

/// kind DoctorChecks.
report::Report list_of_checks();

/// The listing of this kind, where it is known; else nullptr, and `found` says UNKNOWN.
const Listing* known(const Cluster& cluster, std::string_view kind, checks::Findings& found);

/// An object as evidence: "/api/v1/nodes: node-1 status.allocatable", and what stood there.
checks::Evidence evidence_of(const Listing& listing, const data::Value& object,
                             std::string_view field, std::string value);

/// The finding for a whole cluster is about this.
inline constexpr const char* kCluster = "cluster";

}  // namespace railhead::cluster
