// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <array>
#include <ostream>

#include "base/closest.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/command_page.h"

namespace railhead::cli {
namespace {

/// Every command, in the order of `railhead --help`.
constexpr std::array kCommands = {
    add_agent_command,      add_topology_command, add_affinity_command, add_nics_command,
    add_pools_command,      add_doctor_command,   add_pods_command,     add_nfs_command,
    add_nccl_log_command,   add_snapshot_command, add_bench_command,    add_config_command,
    add_migrate_command,    add_setup_command,    add_lint_command,     add_version_command,
    add_completion_command, add_help_command,
};

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 a problem was found, 2 cannot tell, 64 usage.\n"
    "Example: railhead affinity --snapshot tests/nodes/dgx-h100.node --gpus 0,1";

constexpr std::size_t kHelpColumns = 80;

/// The last command that was named, or the program.
const CLI::App& named_command(const CLI::App& program) {
  const auto* at = &program;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

std::string full_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return (parent != nullptr ? full_name(*parent) + " " : "") + command.get_name();
}

/// What was meant by a word or flag that the command does not know; "" where all are known.
std::string unknown_word(const CLI::App& command, const std::vector<std::string>& words) {
  const auto page = page_of(command);
  std::vector<std::string> commands;
  std::vector<std::string> options;
  for (const auto& one : page.commands) commands.push_back(one.name.substr(page.name.size() + 1));
  for (const auto& one : page.options) {
    options.insert(options.end(), one.names.begin(), one.names.end());
  }
  for (const auto& word : words) {
    const auto flag = word.substr(0, word.find('='));
    if (flag.starts_with('-')) {
      return "no option " + in_quotes(flag) + did_you_mean(flag, options);
    }
    return (commands.empty() ? "no use for " : "no command ") + in_quotes(word) +
           did_you_mean(word, commands);
  }
  return "";
}

int usage_error(const CLI::App& program, const CLI::ParseError& problem, std::ostream& err) {
  const auto& command = named_command(program);
  auto what = unknown_word(command, command.remaining());
  if (what.empty()) what = unknown_word(command, program.remaining());
  if (what.empty()) what = problem.what();
  const auto name = full_name(command);
  err << name << ": " << what << "\n" << name << " --help names all\n";
  return kExitUsage;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments,
                     const host::Environment& environment, std::ostream& out, std::ostream& err,
                     const host::Terminal& terminal) {
  CLI::App program("Railhead gives each container the RDMA NICs of its GPUs.", "railhead");
  program.set_version_flag("--version", "railhead " + std::string(version()));
  program.footer(kFooter);
  program.require_subcommand(1);
  Invocation invocation{environment, out, err, terminal};
  const auto columns = invocation.style().columns;
  program.formatter_fn([columns](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
    const auto* parent = app->get_parent();
    return help_text(page_of(*app, parent != nullptr ? full_name(*parent) : ""),
                     columns == 0 ? kHelpColumns : columns);
  });
  for (const auto add : kCommands) add(program, invocation);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    if (!reversed.empty()) reversed.pop_back();  // the program's own name
    program.parse(std::move(reversed));
  } catch (const CLI::Success& asked) {
    program.exit(asked, out, err);
    return kExitOk;
  } catch (const CLI::ParseError& problem) {
    return usage_error(program, problem, err);
  }
  const int code = invocation.run();
  if (out.flush()) return code;
  err << "railhead: what was to be said could not be written to standard output\n";
  return kExitCannotTell;
}

}  // namespace railhead::cli
