// SPDX-License-Identifier: Apache-2.0
//
// Apart from src/bench/, so that `railhead` has the commands of `railhead-bench` in its help,
// man pages and completion without linking libibverbs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shell/console.h"

namespace railhead::bench_options {

/// As the command line says it; src/bench/options.h checks and understands it.
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

/// What a program does where the command is named.
struct Commands {
  std::function<Result<int>()> pair;
  std::function<Result<int>()> client;
  std::function<Result<int>()> server;
};

/// What the help of `railhead-bench` and of `railhead bench` begins with.
inline constexpr const char* kAbout =
    "Measure RDMA bandwidth and latency between two NICs, and check the data";

/// The three commands below `bench`, with their options.
void add_commands(CLI::App& bench, shell::Console& console, Options& options,
                  const Commands& commands);

}  // namespace railhead::bench_options
