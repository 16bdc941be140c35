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
  std::vector<std::string_view> keys;
  for (const auto& spec : all_settings()) {
    // A topology file has no device that could be given to a container.
    if (!spec.flag.empty() && spec.key != "host.ncclTopo") keys.push_back(spec.key);
  }
  add_settings(*app, invocation, keys);
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
