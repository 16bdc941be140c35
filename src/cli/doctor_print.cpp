// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_print.h"

#include <ostream>

#include "checks/formats.h"

namespace railhead::cli {
namespace {

int exit_code_of(const checks::Diagnosis& diagnosis) {
  switch (checks::outcome_of(diagnosis)) {
    case checks::Outcome::good: return kExitOk;
    case checks::Outcome::problem: return kExitProblem;
    case checks::Outcome::unknown: break;
  }
  return kExitCannotTell;
}

}  // namespace

int print_diagnosis(const Invocation& invocation, const DoctorQuestion& question,
                    const checks::Diagnosis& diagnosis) {
  for (const auto& format : checks::kDiagnosisFormats) {
    if (invocation.output != format.name) continue;
    invocation.out << format.render(diagnosis);
    return exit_code_of(diagnosis);
  }
  const bool is_for_people = invocation.output == "table" || invocation.output == "wide";
  if (!question.checks.empty() && is_for_people)
    invocation.out << checks::headline(diagnosis) << "\n\n";
  return invocation.print(checks::report_of(diagnosis, question.all), exit_code_of(diagnosis));
}

}  // namespace railhead::cli
