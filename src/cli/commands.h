// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "host/environment.h"
#include "host/terminal.h"
#include "shell/exit_code.h"

namespace railhead::cli {

using enum shell::ExitCode;

/// The whole program: data goes to `out`, talk to `err`. `terminal`: what `out` is.
int run_command_line(const std::vector<std::string>& arguments,
                     const host::Environment& environment, std::ostream& out, std::ostream& err,
                     const host::Terminal& terminal = {});

}  // namespace railhead::cli
