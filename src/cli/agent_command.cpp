// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agent/agent.h"
#include "cli/command.h"
#include "host/program.h"

namespace railhead {

namespace {

ConfigReader reader_of(const Invocation& invocation) {
  ConfigReader reader;
  reader.paths = invocation.config_paths();
  const bool once = std::find(reader.paths.begin(), reader.paths.end(), "-") != reader.paths.end();
  if (!once) reader.read = [&invocation] { return invocation.sources(read_file_at_once); };
  return reader;
}

}  // namespace

void add_agent_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("agent", "Run the node agent");
  std::vector<SettingRow> rows(std::begin(kSettings), std::end(kSettings));
  // A topology file has no device that could be given to a container.
  std::erase(rows, SettingRow("host.ncclTopo"));
  add_settings(*app, invocation, rows);
  add_rdma_plugin_flags(*app, invocation);
  add_config_option(*app, invocation);
  app->callback([&invocation] {
    invocation.run = [&invocation] {
      hold_hang_ups();  // the agent takes them, once it is there
      return invocation.with_config("agent", [&](const Config& config) {
        const auto done = run_agent(config, reader_of(invocation));
        return done ? static_cast<int>(kExitOk) : invocation.fail("agent", done.error());
      });
    };
  });
}

}  // namespace railhead
