// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/command.h"
#include "options/options.h"

namespace railhead::cli {
namespace {

/// What selects in the operator's rules on NICs, and what they say; of `roles:` and of `expect:`.
struct RuleColumn {
  const char* header;
  const char* key;
  config::NicRule::Text config::NicRule::*text;
};

constexpr std::array kSelectorColumns{
    RuleColumn{"NAME", "name", &config::NicRule::name},
    RuleColumn{"PCI", "pci", &config::NicRule::pci},
    RuleColumn{"DEVICE", "device", &config::NicRule::device},
    RuleColumn{"LINK LAYER", "linkLayer", &config::NicRule::link_layer},
    RuleColumn{"NETDEV", "netdev", &config::NicRule::netdev},
};
constexpr std::array kRoleColumns{RuleColumn{"ROLE", "role", &config::NicRule::role}};
constexpr std::array kExpectColumns{
    RuleColumn{"PORT", "port", &config::NicRule::port},
    RuleColumn{"UNUSED", "unused", &config::NicRule::unused},
    RuleColumn{"ONE UP", "oneUp", &config::NicRule::one_up},
    RuleColumn{"RATE GBPS", "rateGbps", &config::NicRule::rate_gbps},
};

/// Adds the operator's rules of one kind, first match first.
template <typename Columns>
void add_rules(const char* title, const char* key, const std::vector<config::NicRule>& rules,
               const Columns& says, report::Report& report) {
  report::Table table;
  report.json[key] = data::json_list(rules, [&](const config::NicRule& rule) {
    std::vector<report::Cell> cells;
    data::Json json;
    const auto add = [&](const RuleColumn& column) {
      const std::string& text = (rule.*column.text).text;
      cells.push_back({column.header, text});
      json[column.key] = text;
    };
    for (const auto& column : kSelectorColumns) add(column);
    for (const auto& column : says) add(column);
    cells.push_back({"WHERE", rule.entry.where});
    json["where"] = rule.entry.where;
    table.add(std::move(cells));
    return json;
  });
  if (!rules.empty()) report.sections.push_back({title, std::move(table), {}});
}

std::string slots_text(const pools::PoolSpec& pool) {
  if (pool.mode == pools::PoolMode::exclusive) return "";
  if (pool.slots_per_nic) return std::to_string(*pool.slots_per_nic) + " a NIC";
  return std::to_string(pool.slots);
}

/// The resources of all files, whatever their shape, with the place that says so.
report::Table pool_table(const std::vector<pools::PoolSpec>& pools) {
  report::Table table;
  for (const auto& pool : pools) {
    table.add({{"POOL", pool.name},
               {"MODE", std::string(to_string(pool.mode))},
               {"SLOTS", slots_text(pool)},
               {"FUNCTIONS", join(pool.kinds, ",", [](auto kind) { return to_string(kind); })},
               {"EXTRA DEVICES", join(pool.devices, ","), report::kWide},
               {"SOURCE", std::string(to_string(pool.origin.flavour))},
               {"WHERE", pool.origin.where.empty() ? "default" : pool.origin.where}});
  }
  return table;
}

data::Json pool_json(const pools::PoolSpec& pool) {
  const bool fungible = pool.mode == pools::PoolMode::shared && !pool.slots_per_nic;
  return {{"name", pool.name},
          {"mode", to_string(pool.mode)},
          {"slots", fungible ? data::Json(pool.slots) : data::Json(nullptr)},
          {"slotsPerNic", report::json_or_null(pool.slots_per_nic)},
          {"devices", pool.devices},
          {"excludeTopology", pool.exclude_topology},
          {"health", to_string(pool.health)},
          {"prefer", to_string(pool.prefer)},
          {"narrow", pool.narrow},
          {"source", to_string(pool.origin.flavour)},
          {"where", report::text_or_null(pool.origin.where)},
          {"functions", data::json_list(pool.kinds, [](auto kind) { return to_string(kind); })}};
}

report::Report config_report(const config::Config& config, const pools::PoolSpecs& pools) {
  report::Report report;
  report.json = report::make_document("EffectiveConfig");
  report.json["settings"] = data::Json::array();
  report::Table table;
  for (const auto& spec : config::kSettings) {
    const auto& entry = config.entry(spec);
    table.add({{"KEY", std::string(spec.key), report::kKept},
               {"VALUE", entry.text, report::kKept},
               {"FROM", std::string(to_string(entry.origin))},
               {"WHERE", entry.where},
               {"FLAG", std::string(spec.flag), report::kWide},
               {"VARIABLE", spec.variable(), report::kWide},
               {"CHANGES", std::string(to_string(spec.change)), report::kWide},
               {"MEANING", std::string(spec.help), report::kWide}});
    report.json["settings"].push_back({{"key", spec.key},
                                       {"value", entry.text},
                                       {"from", to_string(entry.origin)},
                                       {"where", entry.where},
                                       {"changes", to_string(spec.change)}});
  }
  report.json["pools"] = data::json_list(pools.specs, pool_json);
  auto warnings = config.warnings();
  warnings.insert(warnings.end(), pools.warnings.begin(), pools.warnings.end());
  report.json["warnings"] = warnings;
  report.json["leftOut"] = pools.left_out;
  report.sections.push_back({"", std::move(table), {}});
  add_rules("ROLES", "roles", config.roles(), kRoleColumns, report);
  add_rules("EXPECT", "expect", config.expect(), kExpectColumns, report);
  if (!pools.specs.empty()) report.sections.push_back({"POOLS", pool_table(pools.specs), {}});
  report.note("LEFT OUT", pools.left_out);
  report.note("WARNINGS", std::move(warnings));
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
  const auto topology = options::operator_topology(config.settings());
  if (!topology) return at_setting(config, "topology.file", topology.error());
  const bool is_snapshot = !config.settings().host.snapshot.empty();
  if (!is_snapshot && std::ranges::none_of(pools.specs, is_exclusive)) return {};
  const auto table = load_table(config);
  if (!table && is_snapshot) return at_setting(config, "host.snapshot", table.error());
  if (!table) return table.error();
  const auto& conflicts = (*table)->pools().conflicts;
  return conflicts.empty() ? Status() : Error{ErrorCode::malformed, conflicts.front()};
}

/// What the agent would refuse to start with is refused here, too.
Result<int> show_config(const Invocation& invocation, const config::Config& config) {
  TRY(options::agent_policies(config));
  const auto pools = TRY(options::pool_specs(config));
  TRY_STATUS(check_with_machine(config, pools));
  return invocation.print(config_report(config, pools),
                          pools.left_out.empty() ? kExitOk : kExitProblem);
}

}  // namespace

void add_config_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "config", "Check the configuration; show what is in effect and where it comes from");
  add_settings(*app, invocation, {std::begin(config::kSettings), std::end(config::kSettings)});
  add_rdma_plugin_flags(*app, invocation);
  add_config_option(*app, invocation);
  add_output_option(*app, invocation);
  app->footer(
      "Pools are compared with the machine, or with that of --snapshot.\n"
      "Exit codes: 0 ok, 1 the agent would leave out a resource of another plugin's file,\n"
      "64 it would not start with this configuration.\n"
      "Example: railhead config --config railhead.yaml -o wide");
  invocation.answer_with_config(*app, [&invocation](const config::Config& config) {
    auto code = show_config(invocation, config);
    return code ? code : as_usage(code.error());
  });
}

}  // namespace railhead::cli
