// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_print.h"

#include <ostream>

#include "checks/formats.h"

namespace railhead::cli {
namespace {

int exit_code_of(const checks::Diagnosis& diagnosis, const DoctorQuestion& question) {
  const auto fail_on = question.fail_on == "warn" ? checks::State::warn : checks::State::fail;
  switch (checks::outcome_of(diagnosis, fail_on)) {
    case checks::Outcome::good: return kExitOk;
    case checks::Outcome::problem: return kExitProblem;
    case checks::Outcome::unknown: break;
  }
  return kExitCannotTell;
}

}  // namespace

int print_diagnosis(const Invocation& invocation, const DoctorQuestion& question,
                    const checks::Diagnosis& diagnosis) {
  const int code = exit_code_of(diagnosis, question);
  for (const auto& format : checks::kDiagnosisFormats) {
    if (invocation.output != format.name) continue;
    invocation.out << format.render(diagnosis);
    return code;
  }
  auto report = checks::report_of(diagnosis, question.all);
  if (!question.checks.empty()) {
    report.sections.insert(report.sections.begin(), {"", {}, {checks::headline(diagnosis)}});
  }
  return invocation.print(report, code);
}

}  // namespace railhead::cli
