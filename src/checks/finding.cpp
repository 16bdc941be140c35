// SPDX-License-Identifier: Apache-2.0
#include "checks/finding.h"

#include <array>

#include "checks/check.h"

namespace railhead::checks {

std::string_view to_string(State state) {
  constexpr std::array<std::string_view, 5> kNames = {"PASS", "WARN", "FAIL", "UNKNOWN", "SKIP"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view to_string(RemedyClass remedy) {
  constexpr std::array<std::string_view, 6> kNames = {"R0", "R1", "R2", "R3", "R4", "R5"};
  return kNames[static_cast<std::size_t>(remedy)];
}

Finding& Findings::add(State state, std::string subject, EvidenceList evidence) {
  Finding finding{check_.id, std::move(subject), state};
  finding.covers = check_.covers;
  finding.evidence = std::move(evidence);
  return all_.emplace_back(std::move(finding));
}

std::vector<Finding> Findings::take(std::string_view whole) {
  if (all_.empty()) skip(std::string(whole), "there is no " + std::string(check_.about) + " here");
  return std::move(all_);
}

Finding& Findings::pass(std::string subject, std::string observed, EvidenceList evidence) {
  auto& finding = add(State::pass, std::move(subject), std::move(evidence));
  finding.observed = std::move(observed);
  return finding;
}

Finding& Findings::warn(std::string subject, std::string observed, std::string expected,
                        EvidenceList evidence) {
  auto& finding =
      fail(std::move(subject), std::move(observed), std::move(expected), std::move(evidence));
  finding.state = State::warn;
  return finding;
}

Finding& Findings::fail(std::string subject, std::string observed, std::string expected,
                        EvidenceList evidence) {
  auto& finding = add(State::fail, std::move(subject), std::move(evidence));
  finding.observed = std::move(observed);
  finding.expected = std::move(expected);
  finding.effect = check_.effect;
  finding.remedy = check_.remedy;
  finding.remedy_class = check_.remedy_class;
  return finding;
}

Finding& Findings::unknown(std::string subject, std::string reason, EvidenceList evidence) {
  auto& finding = add(State::unknown, std::move(subject), std::move(evidence));
  finding.reason = std::move(reason);
  return finding;
}

Finding& Findings::skip(std::string subject, std::string reason, EvidenceList evidence) {
  auto& finding = add(State::skip, std::move(subject), std::move(evidence));
  finding.reason = std::move(reason);
  return finding;
}

Evidence evidence_of(const system::Text& text) {
  return {text.path, text.value.value_or(""), text.error};
}

}  // namespace railhead::checks
