// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench_options/bench_options.h"
#include "cli/command.h"
#include "host/program.h"

namespace railhead::cli {
namespace {

/// The words behind `railhead bench`.
std::vector<std::string> words_of(const Invocation& invocation) {
  const auto& all = invocation.arguments;
  const auto bench = std::ranges::find(all, "bench");
  return bench == all.end() ? std::vector<std::string>() : std::vector(bench + 1, all.end());
}

}  // namespace

// What measures is a program of its own, because it needs libibverbs and this one does not. The
// command line is the same, so what is wrong with it is said here.
void add_bench_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("bench", bench_options::kAbout);
  const auto options = std::make_shared<bench_options::Options>();
  const auto answer = [&invocation, options]() -> Result<int> {
    const auto path = TRY(host::find_program("railhead-bench", invocation.environment));
    return host::become_program(path, words_of(invocation));
  };
  bench_options::add_commands(*app, invocation, *options, {answer, answer, answer});
}

}  // namespace railhead::cli
