// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "checks/report.h"

namespace railhead::checks {

/// JUnit's XML, as CI systems read it: a test case for each finding. FAIL is a failure, UNKNOWN an
/// error, SKIP is skipped, and WARN, which JUnit does not know, is a case that passed with its text
/// in system-out.
std::string to_junit(const Diagnosis& diagnosis);

/// One page without scripts, fonts or pictures from elsewhere: what is wrong first, then every
/// finding, folded up.
std::string to_html(const Diagnosis& diagnosis);

/// A way to print a diagnosis beyond those of every report.
struct DiagnosisFormat {
  std::string_view name;  ///< its word for --output
  std::string (*render)(const Diagnosis& diagnosis);
};

inline constexpr std::array kDiagnosisFormats = {
    DiagnosisFormat{"junit", to_junit},
    DiagnosisFormat{"html", to_html},
};

/// "/proc/modules = …", "/proc/modules is not there", "/proc/modules: EACCES".
std::string evidence_text(const Evidence& evidence);

}  // namespace railhead::checks
