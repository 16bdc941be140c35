// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/command_line.h"
#include "bench/plan.h"
#include "bench/verbs_endpoint.h"
#include "host/environment.h"
#include "report/report.h"

namespace railhead::bench {

/// As the command line says it, checked and understood by the functions below.
struct Options {
  std::string operations = "write";
  std::string measures = "bandwidth";
  std::string sizes;
  std::string duration;
  std::uint64_t iterations = 0;
  std::uint64_t warm_up = 50;
  unsigned queue_pairs = 1;
  unsigned depth = 128;
  std::string memory = "host";
  unsigned mtu = 0;
  std::string rate_cap;
  double require = 0;
  std::string output = "table";
  std::string proof_file;
  bool progress = false;

  std::vector<std::string> nics;
  std::vector<std::string> other_nics;  ///< of the server
  int gid_index = -1;
  bool force = false;
  unsigned gpu = 0;

  std::string address;
  std::string key_file;
  unsigned clients = 1;
  std::string idle_limit = "10m";
};

void add_measuring_options(CLI::App& app, Options& options);
void add_nic_options(CLI::App& app, Options& options);
void add_key_option(CLI::App& app, Options& options);

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
Result<const report::Format*> output_format(const Options& options);

/// From --key-file, else RAILHEAD_BENCH_KEY. Absent when neither is there.
Result<std::optional<std::string>> given_key(const Options& options,
                                             const host::Environment& environment);

/// The three commands, after their options were read; each returns the exit code.
int run_pair_command(const Options& options, const Surroundings& surroundings);
int run_client_command(const Options& options, const Surroundings& surroundings);
int run_server_command(const Options& options, const Surroundings& surroundings);

}  // namespace railhead::bench
