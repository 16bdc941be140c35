// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <array>
#include <ostream>

#include "base/text.h"
#include "base/version.h"
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

}  // namespace

int run_command_line(const std::vector<std::string>& arguments,
                     const host::Environment& environment, std::ostream& out, std::ostream& err) {
  CLI::App program("Railhead gives each container the RDMA NICs of its GPUs.", "railhead");
  program.set_version_flag("--version", "railhead " + std::string(version()));
  program.footer(kFooter);
  program.require_subcommand(1);
  Invocation invocation{environment, out, err, {}, {}, "table", {}, {}};
  for (const auto add : kCommands) add(program, invocation);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    if (!reversed.empty()) reversed.pop_back();  // the program's own name
    program.parse(std::move(reversed));
  } catch (const CLI::ParseError& problem) {
    const auto words = program.remaining();
    if (program.get_subcommands().empty() && !words.empty() && !words.front().starts_with('-')) {
      err << "railhead: no command " << in_quotes(words.front()) << "; railhead --help names all\n";
      return kExitUsage;
    }
    return program.exit(problem, out, err) == 0 ? kExitOk : kExitUsage;
  }
  return invocation.run();
}

}  // namespace railhead::cli
