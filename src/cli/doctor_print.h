// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "checks/report.h"
#include "cli/command.h"

namespace railhead::cli {

/// What both doctors are asked.
struct DoctorQuestion {
  std::vector<std::string> checks;  ///< ids; none: all
  std::string explain;
  bool list = false;
  bool all = false;
  std::string fail_on = "fail";
  std::chrono::milliseconds limit{10'000};
};

/// The diagnosis in the format that was asked for. Where checks were named, what a plugin of
/// node-problem-detector says comes first. Its exit code.
int print_diagnosis(const Invocation& invocation, const DoctorQuestion& question,
                    const checks::Diagnosis& diagnosis);

}  // namespace railhead::cli
