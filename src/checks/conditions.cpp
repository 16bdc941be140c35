// SPDX-License-Identifier: Apache-2.0
#include "checks/conditions.h"

#include <algorithm>

namespace railhead::checks {

std::vector<ConditionState> conditions_of(const Diagnosis& diagnosis) {
  std::vector<ConditionState> states;
  for (const auto& condition : kNodeConditions) {
    Diagnosis part;
    for (const auto& finding : diagnosis.findings) {
      const auto& ids = condition.checks;
      if (std::find(ids.begin(), ids.end(), finding.id) != ids.end()) {
        part.findings.push_back(finding);
      }
    }
    const auto outcome = outcome_of(part);
    states.push_back(
        {&condition, outcome,
         outcome == Outcome::good ? std::string(condition.good_message) : headline(part)});
  }
  return states;
}

}  // namespace railhead::checks
