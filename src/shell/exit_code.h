// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace railhead::shell {

/// Exit codes; those of node-problem-detector plugins, and sysexits for usage.
enum ExitCode : int { kExitOk = 0, kExitProblem = 1, kExitCannotTell = 2, kExitUsage = 64 };

}  // namespace railhead::shell
