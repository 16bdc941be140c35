// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"
#include "cli/command.h"

namespace railhead {
namespace {

/// The operator's word on roles, first match first.
Table role_table(const Config& config) {
  Table table{{{"NAME"}, {"PCI"}, {"DEVICE"}, {"LINK LAYER"}, {"NETDEV"}, {"ROLE"}, {"WHERE"}}, {}};
  for (const auto& role : config.roles()) {
    table.rows.push_back({role.name.text, role.pci.text, role.device.text, role.link_layer.text,
                          role.netdev.text, role.role.text, role.role.where});
  }
  return table;
}

Report config_report(const Config& config) {
  Report report;
  report.json = make_document("EffectiveConfig");
  report.json["settings"] = Json::array();
  Table table{{{"KEY"},
               {"VALUE"},
               {"FROM"},
               {"WHERE"},
               {"FLAG", Column::Shown::wide},
               {"VARIABLE", Column::Shown::wide},
               {"MEANING", Column::Shown::wide}},
              {}};
  for (const auto& spec : all_settings()) {
    const auto& entry = config.entry(spec.key);
    table.rows.push_back({std::string(spec.key), entry.text, std::string(to_string(entry.origin)),
                          entry.where, std::string(spec.flag), std::string(spec.variable),
                          std::string(spec.help)});
    report.json["settings"].push_back({{"key", spec.key},
                                       {"value", entry.text},
                                       {"from", to_string(entry.origin)},
                                       {"where", entry.where}});
  }
  report.json["roles"] = Json::array();
  for (const auto& role : config.roles()) {
    report.json["roles"].push_back({{"name", role.name.text},
                                    {"pci", role.pci.text},
                                    {"device", role.device.text},
                                    {"linkLayer", role.link_layer.text},
                                    {"netdev", role.netdev.text},
                                    {"role", role.role.text},
                                    {"where", role.role.where}});
  }
  report.json["warnings"] = config.warnings();
  report.sections.push_back({"", std::move(table), {}});
  if (!config.roles().empty()) report.sections.push_back({"ROLES", role_table(config), {}});
  if (!config.warnings().empty()) report.sections.push_back({"WARNINGS", {}, config.warnings()});
  return report;
}

}  // namespace

void add_config_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand("config", "Show the effective configuration and who said it");
  std::vector<std::string_view> keys;
  for (const auto& spec : all_settings()) {
    if (!spec.flag.empty()) keys.push_back(spec.key);
  }
  add_settings(*app, invocation, keys);
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->callback([&invocation] {
    invocation.run = [&invocation] {
      return invocation.with_config("config", [&](const Config& config) {
        const auto roles = role_overrides(config);
        if (!roles) return invocation.fail("config", roles.error(), kExitUsage);
        return invocation.print(config_report(config), kExitOk);
      });
    };
  });
}

}  // namespace railhead
