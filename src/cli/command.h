// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/commands.h"
#include "config/config.h"
#include "host/environment.h"
#include "host/input_file.h"
#include "host/terminal.h"
#include "inject/decide.h"
#include "report/report.h"

namespace railhead::cli {

/// What every command gets: its surroundings, and what the flags said.
struct Invocation {
  const host::Environment& environment;
  std::ostream& out;
  std::ostream& err;
  host::Terminal terminal;                            ///< what `out` is
  std::map<config::SettingRow, std::string> flags{};  ///< those that were given
  std::vector<std::string> config_files{};
  std::string output = "table";
  std::function<int()> run{};                      ///< set by the command that was named
  std::map<std::string, std::string> variables{};  ///< those that a flag says; "": it does not
  bool no_headers = false;
  std::string color = "auto";
  bool watch = false;
  mutable std::string last_printed{};  ///< by the look before, of --watch

  /// Configuration from the files named by --config (else /etc/railhead/config.yaml if it exists),
  /// the environment and the flags.
  [[nodiscard]] Result<config::Config> config() const;
  /// What config() is made of, as it is now.
  [[nodiscard]] Result<config::ConfigSources> sources(host::ReadFile read) const;
  /// The files that are named, or the default one, there or not.
  [[nodiscard]] std::vector<std::string> config_paths() const;

  /// What the command does where it is named. `answer` gives the exit code; an error is printed for
  /// a person, and the code is that of a usage error for one, else kExitCannotTell.
  void answer(CLI::App& app, const std::function<Result<int>()>& answer);

  /// The same with the configuration read. A wrong one is a usage error.
  void answer_with_config(CLI::App& app,
                          const std::function<Result<int>(const config::Config&)>& with_it);

  /// The same with the machine read, for commands that answer for one.
  void answer_with_machine(CLI::App& app,
                           const std::function<Result<int>(const inject::DecisionTable&)>& with_it);

  /// How text is printed: by the terminal, COLUMNS, NO_COLOR and the flags.
  [[nodiscard]] report::PrintStyle style() const;

  /// Writes the report in the asked format and returns `code`. With --watch, only what is another
  /// than before.
  int print(const report::Report& report, int code) const;
};

/// The same failure as one of usage.
Error as_usage(const Error& error);

/// Options for these settings, from the table: flag, help, default and environment variable.
void add_settings(CLI::App& app, Invocation& invocation,
                  const std::vector<config::SettingRow>& rows);
/// Those of k8s-rdma-device-plugin, each the same as its variable.
void add_rdma_plugin_flags(CLI::App& app, Invocation& invocation);
void add_config_option(CLI::App& app, Invocation& invocation);
/// --host-root, --snapshot and --nccl-topo.
void add_machine_options(CLI::App& app, Invocation& invocation);
/// -o, --no-headers and --color; `more` names formats beyond table, wide, json, yaml. Any other is
/// refused when the command line is read.
void add_output_option(CLI::App& app, Invocation& invocation,
                       const std::vector<std::string>& more = {});

/// -w, for what changes while one looks.
void add_watch_option(CLI::App& app, Invocation& invocation);
/// An option for a time (base/duration.h), in `unit`s where it is a number alone.
CLI::Option* add_duration_option(CLI::App& app, const std::string& names,
                                 std::chrono::milliseconds& into, std::chrono::milliseconds unit,
                                 const std::string& help);

/// For a node without any RDMA device: what that means, and the command that tells more. Else
/// nothing.
std::vector<std::string> no_rdma_lines(const node::Node& node);

/// The machine ready for decisions, as the agent would have it under the same configuration.
Result<std::shared_ptr<const inject::DecisionTable>> load_table(const config::Config& config);

/// Adds the command to the program. One function a file, listed in commands.cpp.
void add_agent_command(CLI::App& program, Invocation& invocation);
void add_topology_command(CLI::App& program, Invocation& invocation);
void add_affinity_command(CLI::App& program, Invocation& invocation);
void add_nics_command(CLI::App& program, Invocation& invocation);
void add_pools_command(CLI::App& program, Invocation& invocation);
void add_doctor_command(CLI::App& program, Invocation& invocation);
void add_nccl_log_command(CLI::App& program, Invocation& invocation);
void add_lint_command(CLI::App& program, Invocation& invocation);
void add_pods_command(CLI::App& program, Invocation& invocation);
void add_nfs_command(CLI::App& program, Invocation& invocation);
void add_snapshot_command(CLI::App& program, Invocation& invocation);
void add_bench_command(CLI::App& program, Invocation& invocation);
void add_config_command(CLI::App& program, Invocation& invocation);
void add_migrate_command(CLI::App& program, Invocation& invocation);
void add_setup_command(CLI::App& program, Invocation& invocation);
void add_version_command(CLI::App& program, Invocation& invocation);
void add_completion_command(CLI::App& program, Invocation& invocation);
void add_help_command(CLI::App& program, Invocation& invocation);

}  // namespace railhead::cli
