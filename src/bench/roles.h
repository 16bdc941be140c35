// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/command_line.h"
#include "bench/options.h"

namespace railhead::bench {

/// The three commands, after their options were read; each returns the exit code.
int run_pair_command(const Options& options, const Surroundings& surroundings);
int run_client_command(const Options& options, const Surroundings& surroundings);
int run_server_command(const Options& options, const Surroundings& surroundings);

}  // namespace railhead::bench
