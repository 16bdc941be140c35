// SPDX-License-Identifier: Apache-2.0
//
// What the checks of a node say as conditions of its Node in Kubernetes, in the words of
// node-problem-detector: a condition is a problem, so False is healthy. Types and reasons are those
// of deploy/charts/files/railhead-doctor.json.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checks/report.h"

namespace railhead::checks {

/// A row of the table: which checks make a condition.
struct ConditionRow {
  std::string_view type;            ///< "RDMALinkUnhealthy"
  std::string_view problem_reason;  ///< where it is True: "RDMALinkIsDown"
  std::string_view good_reason;     ///< where it is False: "RDMALinksAreUp"
  std::string_view good_message;
  std::string_view checks;  ///< ids, with blanks
  /// More of them, which an agent in a pod cannot make: they count where something of them is
  /// known, and then this is added to `good_message`.
  std::string_view also = "";
  std::string_view also_message = "";
};

std::span<const ConditionRow> condition_rows();

/// Where the status is Unknown.
inline constexpr std::string_view kUnknownReason = "NotKnown";

struct Condition {
  std::string_view type;
  Outcome outcome = Outcome::unknown;  ///< a problem is the status True
  std::string_view reason;
  std::string message;  ///< 256 bytes at most
};

/// One of each row. A problem names the first failure, and an unknown one why.
std::vector<Condition> conditions_of(const std::vector<Finding>& findings);

/// Every condition, with nothing known and `why`.
std::vector<Condition> unknown_conditions(const std::string& why);

/// What a look at the node said.
struct ConditionsSeen {
  std::vector<Condition> conditions;
  std::chrono::steady_clock::time_point at;
  std::chrono::system_clock::time_point when;  ///< the same for people
};

/// From the thread that looks to the one that tells; null before the first look.
using LatestConditions = std::shared_ptr<const ConditionsSeen>;

}  // namespace railhead::checks
