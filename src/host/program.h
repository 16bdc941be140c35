// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/environment.h"

namespace railhead::host {

/// The path of another program of ours: beside this one, in ../libexec/railhead seen from there, or
/// in a folder of PATH. The error names the program and where it was looked for.
Result<std::string> find_program(const std::string& name, const Environment& environment);

/// This process becomes that program, with these arguments after its name. Returns only an error.
Error become_program(const std::string& path, const std::vector<std::string>& arguments);

struct ProgramAnswer {
  int exit_code = 0;  ///< -1: a signal ended it
  std::string output;
};

/// Runs that program and waits for its end. What it writes to its output is kept, what it writes to
/// stderr is not. Fails with ErrorCode::timeout after `limit`, and with too_large beyond 1 MiB; it
/// is ended then.
Result<ProgramAnswer> run_program(const std::string& path,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds limit);

/// SIGHUP, which would end the process, waits until let_signals_in(), when somebody takes it. Of
/// this thread and of those that it starts meanwhile.
void hold_hang_ups();

/// SIGHUP, SIGTERM and SIGINT, also where who started the process had blocked them: a mask outlives
/// execve(2).
void let_signals_in();

/// Ends the process at once, without waiting for threads that cannot be ended.
[[noreturn]] void end_process(int exit_code);

}  // namespace railhead::host
