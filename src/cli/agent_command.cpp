// SPDX-License-Identifier: Apache-2.0

#include "agent/agent.h"
#include "base/contains.h"
#include "cli/command.h"
#include "host/program.h"

namespace railhead::cli {

namespace {

agent::ConfigReader reader_of(const Invocation& invocation) {
  agent::ConfigReader reader;
  reader.paths = invocation.config_paths();
  const bool once = contains(reader.paths, "-");
  if (!once) reader.read = [&invocation] { return invocation.sources(host::read_file_at_once); };
  return reader;
}

}  // namespace

void add_agent_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("agent", "Run the node agent");
  std::vector<config::SettingRow> rows(std::begin(config::kSettings), std::end(config::kSettings));
  // A topology file has no device that could be given to a container.
  std::erase(rows, config::SettingRow("host.ncclTopo"));
  add_settings(*app, invocation, rows);
  add_rdma_plugin_flags(*app, invocation);
  add_config_option(*app, invocation);
  app->footer(
      "Exit codes: 0 it was ended by a signal, 2 it cannot run here, 64 the configuration cannot "
      "be\n"
      "used; railhead config says the same without starting.\n"
      "Examples: railhead agent --node-name worker-1 --log-format json\n"
      "          railhead agent --gpus none --config /etc/railhead/config.yaml");
  app->preparse_callback([](std::size_t) {
    host::hold_hang_ups();  // the agent takes them, once it is there
  });
  invocation.answer_with_config(*app, [&invocation](const config::Config& config) -> Result<int> {
    invocation.drop_program();
    TRY_STATUS(agent::run_agent(config, reader_of(invocation)));
    return kExitOk;
  });
}

}  // namespace railhead::cli
