// SPDX-License-Identifier: Apache-2.0
#include "bench/command_line.h"

#include <memory>
#include <utility>

#include "bench/options.h"

namespace railhead::bench {

int run_bench(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  auto program = std::make_unique<CLI::App>(bench_options::kAbout, "railhead-bench");
  shell::Console console{surroundings.environment, surroundings.out, surroundings.err,
                         surroundings.terminal};
  shell::begin_program(*program, console);
  Options options;
  const auto command = [&](int (*run)(const Options&, const Console&, const Surroundings&)) {
    return [&, run]() -> Result<int> { return run(options, console, surroundings); };
  };
  bench_options::add_commands(
      *program, console, options,
      {command(run_pair_command), command(run_client_command), command(run_server_command)});
  shell::add_version_command(*program, console);
  shell::add_completion_command(*program, console);
  shell::add_help_command(*program, console, "pair", "client");
  return shell::run_program(std::move(program), console, arguments);
}

}  // namespace railhead::bench
