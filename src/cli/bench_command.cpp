// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "host/program.h"

namespace railhead::cli {

// A program of its own, because it needs libibverbs and this one does not. Its help is its own,
// too.
void add_bench_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "bench", "Measure RDMA bandwidth and latency between two NICs (railhead-bench)");
  app->footer(
      "railhead bench --help is the help of that program.\n"
      "Example: railhead bench pair --help");
  app->set_help_flag();
  app->prefix_command();
  invocation.answer(*app, [app, &invocation]() -> Result<int> {
    const auto path = TRY(host::find_program("railhead-bench", invocation.environment));
    return host::become_program(path, app->remaining());
  });
}

}  // namespace railhead::cli
