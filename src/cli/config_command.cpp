// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agent/options.h"
#include "base/text.h"
#include "cli/command.h"

namespace railhead::cli {
namespace {

/// The operator's word on roles, first match first.
report::Table role_table(const config::Config& config) {
  report::Table table{
      {{"NAME"}, {"PCI"}, {"DEVICE"}, {"LINK LAYER"}, {"NETDEV"}, {"ROLE"}, {"WHERE"}}, {}};
  for (const auto& role : config.roles()) {
    table.rows.push_back({role.name.text, role.pci.text, role.device.text, role.link_layer.text,
                          role.netdev.text, role.role.text, role.role.where});
  }
  return table;
}

bool is_configured(const pools::PoolSpec& pool) {
  return !pool.origin.where.empty();
}

std::string slots_text(const pools::PoolSpec& pool) {
  if (pool.mode == pools::PoolMode::exclusive) return "";
  if (pool.slots_per_nic) return std::to_string(*pool.slots_per_nic) + " a NIC";
  return std::to_string(pool.slots);
}

std::string kinds_text(const pools::PoolSpec& pool) {
  std::vector<std::string> kinds;
  for (const auto kind : pool.kinds) kinds.emplace_back(to_string(kind));
  return join(kinds, ",");
}

/// The resources of all files, whatever their shape, with the place that says so.
report::Table pool_table(const std::vector<pools::PoolSpec>& pools) {
  report::Table table{{{"POOL"},
                       {"MODE"},
                       {"SLOTS"},
                       {"FUNCTIONS"},
                       {"EXTRA DEVICES", report::Column::Shown::wide},
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

data::Json pool_json(const pools::PoolSpec& pool) {
  const bool fungible = pool.mode == pools::PoolMode::shared && !pool.slots_per_nic;
  data::Json json = {
      {"name", pool.name},
      {"mode", to_string(pool.mode)},
      {"slots", fungible ? data::Json(pool.slots) : data::Json(nullptr)},
      {"slotsPerNic", report::json_or_null(pool.slots_per_nic)},
      {"devices", pool.devices},
      {"excludeTopology", pool.exclude_topology},
      {"health", to_string(pool.health)},
      {"prefer", to_string(pool.prefer)},
      {"source", to_string(pool.origin.flavour)},
      {"where", is_configured(pool) ? data::Json(pool.origin.where) : data::Json(nullptr)}};
  json["functions"] = data::Json::array();
  for (const auto kind : pool.kinds) json["functions"].push_back(to_string(kind));
  return json;
}

report::Report config_report(const config::Config& config, const pools::PoolSpecs& pools) {
  report::Report report;
  report.json = report::make_document("EffectiveConfig");
  report.json["settings"] = data::Json::array();
  report::Table table{{{"KEY"},
                       {"VALUE"},
                       {"FROM"},
                       {"WHERE"},
                       {"FLAG", report::Column::Shown::wide},
                       {"VARIABLE", report::Column::Shown::wide},
                       {"CHANGES", report::Column::Shown::wide},
                       {"MEANING", report::Column::Shown::wide}},
                      {}};
  for (const auto& spec : config::kSettings) {
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
  report.json["roles"] = data::Json::array();
  for (const auto& role : config.roles()) {
    report.json["roles"].push_back({{"name", role.name.text},
                                    {"pci", role.pci.text},
                                    {"device", role.device.text},
                                    {"linkLayer", role.link_layer.text},
                                    {"netdev", role.netdev.text},
                                    {"role", role.role.text},
                                    {"where", role.role.where}});
  }
  report.json["pools"] = data::Json::array();
  for (const auto& pool : pools.specs) report.json["pools"].push_back(pool_json(pool));
  auto warnings = config.warnings();
  warnings.insert(warnings.end(), pools.warnings.begin(), pools.warnings.end());
  report.json["warnings"] = warnings;
  report.json["leftOut"] = pools.left_out;
  report.sections.push_back({"", std::move(table), {}});
  if (!config.roles().empty()) report.sections.push_back({"ROLES", role_table(config), {}});
  if (!pools.specs.empty()) report.sections.push_back({"POOLS", pool_table(pools.specs), {}});
  if (!pools.left_out.empty()) report.sections.push_back({"LEFT OUT", {}, pools.left_out});
  if (!warnings.empty()) report.sections.push_back({"WARNINGS", {}, std::move(warnings)});
  return report;
}

/// Whoever named a file that cannot be used.
Error at_setting(const config::Config& config, config::SettingRow row, const Error& error) {
  return error.context(config.entry(row).where + ": " + std::string(row->key));
}

bool is_exclusive(const pools::PoolSpec& pool) {
  return pool.mode == pools::PoolMode::exclusive;
}

/// What the agent would refuse to start with, once it has read the machine. That is read only where
/// it can make a difference.
Status check_with_machine(const config::Config& config, const pools::PoolSpecs& pools) {
  const auto topology = agent::operator_topology(config.settings());
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
int show_config(const Invocation& invocation, const config::Config& config) {
  const auto policies = agent::agent_policies(config);
  if (!policies) return invocation.fail("config", policies.error(), kExitUsage);
  const auto pools = agent::pool_specs(config);
  if (!pools) return invocation.fail("config", pools.error(), kExitUsage);
  const auto checked = check_with_machine(config, *pools);
  if (!checked) return invocation.fail("config", checked.error(), kExitUsage);
  return invocation.print(config_report(config, *pools),
                          pools->left_out.empty() ? kExitOk : kExitProblem);
}

}  // namespace

void add_config_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "config", "Check the configuration; show what is in effect and who said it");
  add_settings(*app, invocation, {std::begin(config::kSettings), std::end(config::kSettings)});
  add_rdma_plugin_flags(*app, invocation);
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->footer(
      "Pools are compared with the machine, or with that of --snapshot.\n"
      "Exit codes: 0 ok, 1 the agent would leave out a resource of another plugin's file,\n"
      "64 it would not start with this configuration.");
  app->callback([&invocation] {
    invocation.run = [&invocation] {
      return invocation.with_config(
          "config", [&](const config::Config& config) { return show_config(invocation, config); });
    };
  });
}

}  // namespace railhead::cli
