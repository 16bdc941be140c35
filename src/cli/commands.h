// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "host/environment.h"
#include "host/terminal.h"

namespace railhead::cli {

/// Exit codes; those of node-problem-detector plugins, and sysexits for usage.
enum ExitCode : int { kExitOk = 0, kExitProblem = 1, kExitCannotTell = 2, kExitUsage = 64 };

/// The whole program: data goes to `out`, talk to `err`. `terminal`: what `out` is.
int run_command_line(const std::vector<std::string>& arguments,
                     const host::Environment& environment, std::ostream& out, std::ostream& err,
                     const host::Terminal& terminal = {});

}  // namespace railhead::cli
