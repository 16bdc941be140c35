// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/command_line.h"
#include "bench/plan.h"
#include "bench/verbs_endpoint.h"
#include "bench_options/bench_options.h"
#include "host/environment.h"

namespace railhead::bench {

using bench_options::Options;
using shell::Console;

/// What is to be measured.
struct Work {
  std::vector<Plan> plans;  ///< one a kind of memory
  std::vector<Step> steps;
};

/// Errors name the option.
Result<Work> make_work(const Options& options, std::size_t lanes, std::uint64_t seed);
EndpointOptions endpoint_options(const Options& options);
/// The same for `server`, whose --nics are those that its clients may use.
EndpointOptions server_endpoint_options(const Options& options);

/// From --key-file, else RAILHEAD_BENCH_KEY. Absent when neither is there.
Result<std::optional<std::string>> given_key(const Options& options,
                                             const host::Environment& environment);

/// The three commands, after their options were read; each returns the exit code.
int run_pair_command(const Options& options, const Console& console, const Surroundings& at);
int run_client_command(const Options& options, const Console& console, const Surroundings& at);
int run_server_command(const Options& options, const Console& console, const Surroundings& at);

}  // namespace railhead::bench
