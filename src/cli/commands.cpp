// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <array>
#include <memory>
#include <utility>

#include "cli/command.h"

namespace railhead::cli {
namespace {

/// Every command, in the order of `railhead --help`.
constexpr std::array kCommands = {
    add_agent_command,    add_topology_command, add_affinity_command, add_nics_command,
    add_pools_command,    add_doctor_command,   add_pods_command,     add_nfs_command,
    add_nccl_log_command, add_snapshot_command, add_bench_command,    add_config_command,
    add_migrate_command,  add_setup_command,    add_lint_command,
};

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 a problem was found, 2 cannot tell, 64 usage.\n"
    "Example: railhead affinity --snapshot tests/nodes/dgx-h100.node --gpus 0,1";

/// What the program says of itself.
void add_commands_about(CLI::App& program, Invocation& invocation) {
  shell::add_version_command(program, invocation);
  shell::add_completion_command(program, invocation);
  shell::add_help_command(program, invocation, "setup plan", "nics");
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments,
                     const host::Environment& environment, std::ostream& out, std::ostream& err,
                     const host::Terminal& terminal) {
  auto program = std::make_unique<CLI::App>(
      "Railhead gives each container the RDMA NICs of its GPUs.", "railhead");
  program->footer(kFooter);
  Invocation invocation{{environment, out, err, terminal}};
  invocation.arguments = arguments;
  shell::begin_program(*program, invocation);
  for (const auto add : kCommands) add(*program, invocation);
  add_commands_about(*program, invocation);
  return shell::run_program(std::move(program), invocation, arguments);
}

}  // namespace railhead::cli
