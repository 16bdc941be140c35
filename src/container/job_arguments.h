// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "container/job_size.h"

namespace railhead::container {

/// What the arguments of one process say of its job (kJobArguments), from the bytes of
/// /proc/PID/cmdline: arguments with a NUL behind each. The process may have written anything
/// there.
JobSize job_size_of_arguments(std::string_view command_line);

/// The same bytes with nothing in them but the program and what job_size_of_arguments reads:
/// arguments hold tokens and prompts.
std::string shortened_arguments(std::string_view command_line);

}  // namespace railhead::container
