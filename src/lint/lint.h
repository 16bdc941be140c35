// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "lint/rule.h"
#include "report/report.h"

namespace railhead::lint {

/// Every rule, in the order of its subjects.
const std::vector<const Rule*>& all_rules();

/// nullptr where no rule has this id.
const Rule* find_rule(std::string_view id);

/// What all rules find, by file and line.
std::vector<Finding> lint(const Given& given);

/// Nothing fails: good, whatever is warned of.
enum class Outcome : std::uint8_t { good, problem, unknown };
/// `fail_on`: Severity::warn, and a warning counts as a failure, too; Severity::fail, and it does
/// not.
Outcome outcome_of(const std::vector<Finding>& findings, Severity fail_on = Severity::fail);

/// kind LintReport.
report::Report report_of(const std::vector<Finding>& findings, std::size_t objects);

/// kind LintRules: every rule, as a table.
report::Report list_of_rules();

/// kind LintRule: all that is known of one.
report::Report explanation_of(const Rule& rule);

}  // namespace railhead::lint
