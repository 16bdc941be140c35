// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/migration_steps.h"
#include "config/plugin_texts.h"
#include "options/options.h"
#include "pools/differences.h"
#include "pools/write_pools.h"
#include "report/text_width.h"

namespace railhead::cli {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr const char* kConfigurationAlone = "config";

/// A plugin's configuration in our words, and what it means to move.
struct Migration {
  std::string configuration;
  std::vector<pools::PoolFlavour> plugins;
  std::vector<pools::Difference> changes;
  std::vector<std::string> warnings;
  std::vector<std::string> left_out;  ///< resources that cannot be used, each with its place
};

/// What the files, the manifests among them and the flags say. The surroundings of this command say
/// nothing: they are not the plugin's.
Result<config::ConfigSources> read_sources(const Invocation& invocation,
                                           const std::vector<std::string>& paths,
                                           std::vector<std::string>& warnings) {
  config::ConfigSources sources;
  sources.flags = invocation.flags;
  for (const auto& [name, value] : invocation.variables) {
    if (!value.empty()) sources.environment[name] = value;
  }
  const config::SettingRow prefix = "devicePlugin.resourcePrefix";
  const auto node = sources.flags.find("node.name");
  bool has_policies = false;
  for (const auto& path : paths) {
    auto text = TRY(host::read_input_file(path, kMaxFileBytes));
    config::ConfigFile file{path, std::move(text)};
    auto texts = TRY(
        config::plugin_texts_of_manifest(file, node == sources.flags.end() ? "" : node->second));
    if (!texts) {
      sources.files.push_back(std::move(file));
      continue;
    }
    std::move(texts->files.begin(), texts->files.end(), std::back_inserter(sources.files));
    sources.environment.merge(texts->environment);
    sources.flags.merge(texts->flags);
    warnings.insert(warnings.end(), texts->warnings.begin(), texts->warnings.end());
    has_policies = has_policies || texts->has_policies;
  }
  if (has_policies && sources.flags.emplace(prefix, config::kPolicyPrefix).second) {
    warnings.push_back(
        "policies name no prefix of resources: " + std::string(config::kPolicyPrefix) +
        " is their operator's default, " + std::string(prefix->flag) + " says another");
  }
  return sources;
}

data::Json as_json(const std::string& text) {
  const auto number = parse_unsigned(text);
  if (number && std::to_string(*number) == text) return *number;
  return text;
}

/// Settings that the sources say, and always the one that decides who has NICs.
data::Json write_settings(const config::Config& config) {
  data::Json written = data::Json::object();
  for (const auto& row : config::kSettings) {
    const config::SettingRow setting = row;
    const auto& text = config.entry(setting).text;
    const bool is_spent = setting == config::SettingRow("node.name") ||
                          setting == config::SettingRow("devicePlugin.resourcePrefix");
    if (is_spent || (text == row.fallback && row.key != "injection.gpus")) continue;
    const auto dot = row.key.find('.');
    written[std::string(row.key.substr(0, dot))][std::string(row.key.substr(dot + 1))] =
        as_json(text);
  }
  return written;
}

Result<Migration> migrate(const config::ConfigSources& sources, std::vector<std::string> warnings) {
  const auto config = TRY(config::make_config(sources));
  const auto pools = TRY(options::pool_specs(config));
  Migration migration;
  migration.plugins = pools::plugins_of(config.pool_sources());
  if (migration.plugins.empty()) {
    return Error{
        ErrorCode::malformed,
        config.pool_sources().empty()
            ? "no configuration of a plugin: name its file, ConfigMap or policy, too"
            : "no configuration of a plugin: the pools are in Railhead's own words already"};
  }
  migration.warnings = std::move(warnings);
  for (const auto& more : {config.warnings(), pools.warnings}) {
    migration.warnings.insert(migration.warnings.end(), more.begin(), more.end());
  }
  migration.left_out = pools.left_out;
  auto written = write_settings(config);
  written["pools"] = pools::write_pools(pools.specs, migration.warnings);
  migration.configuration = data::to_yaml(written);
  migration.changes = pools::differences(config.pool_sources(), config.settings().injection.gpus);
  return migration;
}

data::Json texts_json(const std::vector<std::string>& texts) {
  return texts.empty() ? data::Json::array() : data::Json(texts);
}

report::Report migration_report(const Migration& migration) {
  report::Report report;
  report.json = report::make_document("Migration");
  report.json["configuration"] = migration.configuration;
  report.json["changes"] = data::Json::array();
  std::vector<std::string> changes;
  for (const auto& change : migration.changes) {
    report.json["changes"].push_back(
        {{"id", change.id},
         {"text", change.text},
         {"setting", change.setting.empty() ? data::Json(nullptr) : data::Json(change.setting)}});
    changes.push_back(std::string(change.id) + ": " + std::string(change.text) +
                      (change.setting.empty() ? "" : " Setting: " + std::string(change.setting)));
  }
  const auto steps = switch_over_steps(migration.plugins);
  const auto rollback = rollback_steps(migration.plugins);
  report.json["steps"] = texts_json(steps);
  report.json["rollback"] = texts_json(rollback);
  report.json["warnings"] = texts_json(migration.warnings);
  report.json["leftOut"] = texts_json(migration.left_out);
  const auto numbered = [](std::vector<std::string> texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      texts[i].insert(0, std::to_string(i + 1) + ". ");
    }
    return texts;
  };
  std::vector<std::string> lines;
  for (const auto line : split(trim(migration.configuration), '\n')) lines.emplace_back(line);
  report.add("CONFIGURATION", std::move(lines));
  report.add("WHAT CHANGES FOR PODS", std::move(changes));
  report.add("STEPS", numbered(steps));
  report.add("THE WAY BACK", numbered(rollback));
  report.note("WARNINGS", migration.warnings);
  report.add("LEFT OUT", migration.left_out);
  return report;
}

Result<int> show_migration(const Invocation& invocation, const std::vector<std::string>& paths) {
  std::vector<std::string> warnings;
  const auto sources = TRY(read_sources(invocation, paths, warnings));
  const auto migration = TRY(migrate(sources, std::move(warnings)));
  const int code = migration.left_out.empty() ? kExitOk : kExitProblem;
  if (invocation.output != kConfigurationAlone) {
    return invocation.print(migration_report(migration), code);
  }
  for (const auto& warning : migration.warnings) {
    invocation.err << "railhead migrate: " << report::printable(warning) << "\n";
  }
  for (const auto& resource : migration.left_out) {
    invocation.err << "railhead migrate: left out: " << report::printable(resource) << "\n";
  }
  invocation.out << migration.configuration;
  return code;
}

}  // namespace

void add_migrate_command(CLI::App& program, Invocation& invocation) {
  auto* app = program.add_subcommand(
      "migrate", "Turn another RDMA device plugin's configuration into ours; show what changes");
  auto paths = std::make_shared<std::vector<std::string>>();
  app->add_option("FILE", *paths,
                  "the plugin's file, ConfigMap, NicClusterPolicy, SriovNetworkNodePolicy, "
                  "DaemonSet or Helm values; - is standard input")
      ->type_name("")
      ->required();
  add_settings(*app, invocation, {"devicePlugin.resourcePrefix", "node.name"});
  add_rdma_plugin_flags(*app, invocation);
  add_output_option(*app, invocation, {kConfigurationAlone});
  app->footer(
      "-o config prints the configuration alone. --node-name takes that node's key of a "
      "ConfigMap.\n"
      "Exit codes: 0 ok, 1 a resource is left out, 64 the plugin's configuration cannot be used.\n"
      "Example: kubectl get cm rdma-devices -n kube-system -o yaml | railhead migrate -");
  invocation.answer(*app, [&invocation, paths] {
    auto code = show_migration(invocation, *paths);
    return code ? code : as_usage(code.error());
  });
}

}  // namespace railhead::cli
