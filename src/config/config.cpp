// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include "config/builder.h"

namespace railhead::config {

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::fallback: return "default";
    case Origin::file: return "file";
    case Origin::rdma_environment:
    case Origin::environment: return "environment";
    case Origin::flag: return "flag";
  }
  return "unknown";
}

Config::Config() {
  for (const auto& row : kSettings) {
    (void)take(row, {std::string(row.fallback), Origin::fallback, ""});  // a test reads them all
  }
}

Status Config::take(SettingRow row, Entry entry) {
  TRY_STATUS(row->read(entry.text, settings_));
  entries_[row.index()] = std::move(entry);
  return {};
}

void Config::keep(SettingRow row, const Config& other) {
  (void)take(row, other.entry(row));  // it was read before
}

Result<Config> make_config(const ConfigSources& sources) {
  ConfigBuilder builder;
  for (const auto& file : sources.files) TRY_STATUS(builder.add_file(file));
  TRY_STATUS(builder.add_environment(sources.environment));
  for (const auto& [row, text] : sources.flags) {
    TRY_STATUS(builder.set(row, text, Origin::flag, std::string(row->flag)));
  }
  return std::move(builder).finish();
}

Reload reload_of(const Config& running, Config fresh) {
  Reload reload;
  for (const auto& spec : kSettings) {
    const auto& entry = fresh.entry(spec);
    if (entry.text == running.entry(spec).text) continue;
    std::string name(spec.key);
    if (spec.change == Change::restart) {
      reload.restart.push_back(name + (entry.where.empty() ? "" : " (" + entry.where + ")"));
      fresh.keep(spec, running);
      continue;
    }
    reload.changed.push_back(std::move(name));
    if (spec.change == Change::machine) reload.concerns_machine = true;
  }
  const auto compare = [&](const char* list, const auto& now, const auto& before) {
    if (now == before) return;
    reload.changed.emplace_back(list);
    reload.concerns_machine = true;
  };
  compare("roles", fresh.roles(), running.roles());
  compare("expect", fresh.expect(), running.expect());
  reload.config = std::move(fresh);
  return reload;
}

}  // namespace railhead::config
