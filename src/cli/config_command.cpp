// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace railhead {
namespace {

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
    report.json["roles"].push_back(
        {{"name", role.name_glob}, {"pci", role.pci}, {"role", role.role}});
  }
  report.json["warnings"] = config.warnings();
  report.sections.push_back({"", std::move(table), {}});
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
        return invocation.print(config_report(config), kExitOk);
      });
    };
  });
}

}  // namespace railhead
