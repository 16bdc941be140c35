// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agent/options.h"
#include "base/text.h"
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

bool is_configured(const PoolSpec& pool) {
  return !pool.origin.where.empty();
}

std::string slots_text(const PoolSpec& pool) {
  if (pool.mode == PoolMode::exclusive) return "";
  if (pool.slots_per_nic) return std::to_string(*pool.slots_per_nic) + " a NIC";
  return std::to_string(pool.slots);
}

std::string kinds_text(const PoolSpec& pool) {
  std::vector<std::string> kinds;
  for (const auto kind : pool.kinds) kinds.emplace_back(to_string(kind));
  return join(kinds, ",");
}

/// The resources of all files, whatever their shape, with the place that says so.
Table pool_table(const std::vector<PoolSpec>& pools) {
  Table table{{{"POOL"},
               {"MODE"},
               {"SLOTS"},
               {"FUNCTIONS"},
               {"EXTRA DEVICES", Column::Shown::wide},
               {"SOURCE"},
               {"WHERE"}},
              {}};
  for (const auto& pool : pools) {
    table.rows.push_back({pool.name, std::string(to_string(pool.mode)), slots_text(pool),
                          kinds_text(pool), join(pool.devices, ","),
                          std::string(to_string(pool.origin.flavour)),
                          is_configured(pool) ? pool.origin.where : "default"});
  }
  return table;
}

Json pool_json(const PoolSpec& pool) {
  const bool fungible = pool.mode == PoolMode::shared && !pool.slots_per_nic;
  Json json = {{"name", pool.name},
               {"mode", to_string(pool.mode)},
               {"slots", fungible ? Json(pool.slots) : Json(nullptr)},
               {"slotsPerNic", json_or_null(pool.slots_per_nic)},
               {"devices", pool.devices},
               {"excludeTopology", pool.exclude_topology},
               {"source", to_string(pool.origin.flavour)},
               {"where", is_configured(pool) ? Json(pool.origin.where) : Json(nullptr)}};
  json["functions"] = Json::array();
  for (const auto kind : pool.kinds) json["functions"].push_back(to_string(kind));
  return json;
}

Report config_report(const Config& config, const PoolSpecs& pools) {
  Report report;
  report.json = make_document("EffectiveConfig");
  report.json["settings"] = Json::array();
  Table table{{{"KEY"},
               {"VALUE"},
               {"FROM"},
               {"WHERE"},
               {"FLAG", Column::Shown::wide},
               {"VARIABLE", Column::Shown::wide},
               {"CHANGES", Column::Shown::wide},
               {"MEANING", Column::Shown::wide}},
              {}};
  for (const auto& spec : kSettings) {
    const auto& entry = config.entry(spec);
    table.rows.push_back({std::string(spec.key), entry.text, std::string(to_string(entry.origin)),
                          entry.where, std::string(spec.flag), spec.variable(),
                          std::string(to_string(spec.change)), std::string(spec.help)});
    report.json["settings"].push_back({{"key", spec.key},
                                       {"value", entry.text},
                                       {"from", to_string(entry.origin)},
                                       {"where", entry.where},
                                       {"changes", to_string(spec.change)}});
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
  report.json["pools"] = Json::array();
  for (const auto& pool : pools.specs) report.json["pools"].push_back(pool_json(pool));
  auto warnings = config.warnings();
  warnings.insert(warnings.end(), pools.warnings.begin(), pools.warnings.end());
  report.json["warnings"] = warnings;
  report.sections.push_back({"", std::move(table), {}});
  if (!config.roles().empty()) report.sections.push_back({"ROLES", role_table(config), {}});
  if (!pools.specs.empty()) report.sections.push_back({"POOLS", pool_table(pools.specs), {}});
  if (!warnings.empty()) report.sections.push_back({"WARNINGS", {}, std::move(warnings)});
  return report;
}

/// Whoever named a file that cannot be used.
Error at_setting(const Config& config, SettingRow row, const Error& error) {
  return error.context(config.entry(row).where + ": " + std::string(row->key));
}

bool is_exclusive(const PoolSpec& pool) {
  return pool.mode == PoolMode::exclusive;
}

/// What the agent would refuse to start with, once it has read the machine. That is read only where
/// it can make a difference.
Status check_with_machine(const Config& config, const PoolSpecs& pools) {
  const auto topology = operator_topology(config.settings());
  if (!topology) return at_setting(config, "topology.file", topology.error());
  const bool is_snapshot = !config.settings().host.snapshot.empty();
  if (!is_snapshot && std::none_of(pools.specs.begin(), pools.specs.end(), is_exclusive)) return {};
  const auto table = load_table(config);
  if (!table && is_snapshot) return at_setting(config, "host.snapshot", table.error());
  if (!table) return table.error();
  const auto& conflicts = (*table)->pools().conflicts;
  return conflicts.empty() ? Status() : Error{ErrorCode::malformed, conflicts.front()};
}

/// What the agent would refuse to start with is refused here, too.
int show_config(const Invocation& invocation, const Config& config) {
  const auto policies = agent_policies(config);
  if (!policies) return invocation.fail("config", policies.error(), kExitUsage);
  const auto pools = pool_specs(config);
  if (!pools) return invocation.fail("config", pools.error(), kExitUsage);
  const auto checked = check_with_machine(config, *pools);
  if (!checked) return invocation.fail("config", checked.error(), kExitUsage);
  return invocation.print(config_report(config, *pools), kExitOk);
}

}  // namespace

void add_config_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "config", "Check the configuration; show what is in effect and who said it");
  add_settings(*app, invocation, {std::begin(kSettings), std::end(kSettings)});
  add_rdma_plugin_flags(*app, invocation);
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->footer(
      "Pools are compared with the machine, or with that of --snapshot.\n"
      "Exit codes: 0 ok, 64 the agent would not start with this configuration.");
  app->callback([&invocation] {
    invocation.run = [&invocation] {
      return invocation.with_config(
          "config", [&](const Config& config) { return show_config(invocation, config); });
    };
  });
}

}  // namespace railhead
