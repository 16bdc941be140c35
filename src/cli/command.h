// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/commands.h"
#include "config/config.h"
#include "host/input_file.h"
#include "inject/decide.h"
#include "report/report.h"
#include "shell/console.h"

namespace railhead::cli {

/// What every command gets: its surroundings, and what the flags said.
struct Invocation : shell::Console {
  std::vector<std::string> arguments{};               ///< the whole command line
  std::map<config::SettingRow, std::string> flags{};  ///< those that were given
  std::vector<std::string> config_files{};
  std::map<std::string, std::string> variables{};  ///< those that a flag says; "": it does not

  /// Configuration from the files named by --config (else /etc/railhead/config.yaml if it exists),
  /// the environment and the flags.
  [[nodiscard]] Result<config::Config> config() const;
  /// What config() is made of, as it is now.
  [[nodiscard]] Result<config::ConfigSources> sources(host::ReadFile read) const;
  /// The files that are named, or the default one, there or not.
  [[nodiscard]] std::vector<std::string> config_paths() const;

  /// What the command does where it is named, with the configuration read. A wrong one is a usage
  /// error.
  void answer_with_config(CLI::App& app,
                          const std::function<Result<int>(const config::Config&)>& with_it);

  /// The same with the machine read, for commands that answer for one.
  void answer_with_machine(CLI::App& app,
                           const std::function<Result<int>(const inject::DecisionTable&)>& with_it);
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
/// --fail-on warn|fail: from which severity on the exit code is 1.
void add_fail_on_option(CLI::App& app, std::string& fail_on);
using shell::add_duration_option;
using shell::add_output_option;
using shell::add_watch_option;

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

}  // namespace railhead::cli
