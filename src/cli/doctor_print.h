// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checks/report.h"
#include "cli/command.h"

namespace railhead::cli {

/// The diagnosis in the format that was asked for, `report` where it is one of all commands. With
/// `has_headline` what a plugin of node-problem-detector says comes first. Its exit code.
int print_diagnosis(const Invocation& invocation, const checks::Diagnosis& diagnosis,
                    const report::Report& report, bool has_headline);

}  // namespace railhead::cli
