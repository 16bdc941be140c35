// SPDX-License-Identifier: Apache-2.0
#include "config/builder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/contains.h"
#include "base/find.h"
#include "base/text.h"
#include "config/file_shape.h"
#include "config/manifest.h"

namespace railhead::config {
namespace {

/// Each names a machine. What a stronger source says takes the place of the others.
constexpr std::array<SettingRow, 3> kMachines{"host.root", "host.snapshot", "host.ncclTopo"};

/// What an entry of `roles:` or `expect:` may say.
struct NicRuleKey {
  std::string_view key;
  NicRule::Text NicRule::*text;
  std::string_view list;  ///< in which it may stand; "": it selects, in both
};

constexpr std::array kNicRuleKeys{
    NicRuleKey{"name", &NicRule::name, ""},
    NicRuleKey{"pci", &NicRule::pci, ""},
    NicRuleKey{"device", &NicRule::device, ""},
    NicRuleKey{"linkLayer", &NicRule::link_layer, ""},
    NicRuleKey{"netdev", &NicRule::netdev, ""},
    NicRuleKey{"role", &NicRule::role, "roles"},
    NicRuleKey{"port", &NicRule::port, "expect"},
    NicRuleKey{"unused", &NicRule::unused, "expect"},
    NicRuleKey{"oneUp", &NicRule::one_up, "expect"},
    NicRuleKey{"rateGbps", &NicRule::rate_gbps, "expect"},
};

bool stands_in(const NicRuleKey& known, std::string_view list) {
  return known.list.empty() || known.list == list;
}

const NicRuleKey* find_nic_rule_key(std::string_view list, std::string_view key) {
  return find_where(kNicRuleKeys, [&](const NicRuleKey& known) {
    return known.key == key && stands_in(known, list);
  });
}

std::string known_nic_rule_keys(std::string_view list) {
  std::vector<std::string> keys;
  for (const auto& known : kNicRuleKeys) {
    if (stands_in(known, list)) keys.emplace_back(known.key);
  }
  return join(keys, ", ");
}

/// A list in a file stands for the comma-separated text of the flag.
Result<std::string> scalar_text(const data::Value& value) {
  if (value.kind != data::Value::Kind::list) return value.as_string();
  const auto words = TRY(value.as_strings());
  for (const auto& word : words) {
    if (word.find(',') == std::string::npos) continue;
    return Error{ErrorCode::malformed, in_quotes(word) + " has a comma, which separates entries"};
  }
  return join(words, ",");
}

std::string known_sections(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& spec : kSettings) {
    std::string_view key = spec.key;
    if (!path.empty()) {
      if (!key.starts_with(path + ".")) continue;
      key.remove_prefix(path.size() + 1);
    }
    const std::string name(key.substr(0, key.find('.')));
    if (!contains(names, name)) names.push_back(name);
  }
  if (path.empty()) names.insert(names.end(), {"roles", "expect", "pools"});
  return join(names, ", ");
}

data::Value text_value(const std::string& text) {
  data::Value value;
  value.kind = data::Value::Kind::scalar;
  value.scalar = text;
  return value;
}

/// "config.yaml:3:5: what"
Error malformed_in(const std::string& file, const data::Mark& mark, const std::string& what) {
  return {ErrorCode::malformed, data::place_in(file, mark) + ": " + what};
}

Error unknown_key(const std::string& file, const data::Mark& mark, const std::string& key,
                  const std::string& known) {
  return malformed_in(file, mark, "unknown key " + in_quotes(key) + "; known here: " + known);
}

std::string gpu_policy_of(bool auto_inject) {
  return auto_inject ? "closest" : "none";
}

}  // namespace

Status ConfigBuilder::set(SettingRow row, std::string text, Origin origin, std::string where) {
  const auto context = where + ": " + std::string(row->key);
  const bool names_machine = !text.empty() && contains(kMachines, row);
  const auto taken = config_.take(row, {std::move(text), origin, std::move(where)});
  if (!taken) return taken.error().context(context);
  if (!names_machine) return {};
  for (const auto& other : kMachines) {
    if (config_.entry(other).origin < origin) {
      TRY_STATUS(config_.take(other, {std::string(other->fallback), Origin::fallback, ""}));
    }
  }
  return {};
}

Status ConfigBuilder::add_file(const ConfigFile& file) {
  return add_text(file, Manifests::read);
}

Status ConfigBuilder::add_manifest(const ConfigFile& file, const data::Value& root) {
  for (const auto& inner : TRY(files_in_manifest(file, root))) {
    TRY_STATUS(add_text(inner, Manifests::refused));
  }
  return {};
}

Status ConfigBuilder::add_text(const ConfigFile& file, Manifests manifests) {
  std::vector<Error> repeated;
  auto root = parse_file_text(file.text, &repeated);
  if (!root) return root.error().context(file.name);
  if (root->kind == data::Value::Kind::null) return {};
  if (root->kind != data::Value::Kind::map) {
    return malformed_in(file.name, root->mark, "expected keys and values");
  }
  if (manifests == Manifests::read && is_manifest(*root)) return add_manifest(file, *root);
  const auto shape = plugin_shape(*root);
  const bool takes_the_last =
      shape == PoolSource::Shape::shared_plugin || shape == PoolSource::Shape::sriov_plugin;
  for (const auto& error : repeated) {
    if (!takes_the_last) return error.context(file.name);
    config_.warnings_.push_back(file.name + ": " + error.message + "; the last counts");
  }
  if (!shape) return add_our_file(file.name, *root);
  if (shape == PoolSource::Shape::shared_plugin) {
    return add_shared_plugin_file(file.name, *std::move(root));
  }
  if (shape == PoolSource::Shape::flat_file) {
    return add_k8s_rdma_device_plugin_file(file.name, *root);
  }
  config_.pool_sources_.push_back({*shape, file.name, *std::move(root)});
  return {};
}

Status ConfigBuilder::add_our_file(const std::string& name, const data::Value& root) {
  for (const auto& [key, mark, value] : root.entries) {
    if (key == "apiVersion" || key == "kind") {
      const auto text = value.as_string();
      if (!text) return text.error().context(name + ": " + key);
      const std::string expected = key == "kind" ? "Config" : "railhead.io/v1alpha1";
      if (*text != expected) {
        return malformed_in(name, value.mark,
                            key + " is " + in_quotes(*text) + ", not " + expected);
      }
    } else if (key == "roles") {
      config_.roles_ = TRY(nic_rules(name, key, value));
    } else if (key == "expect") {
      config_.expect_ = TRY(nic_rules(name, key, value));
    } else if (key == "pools") {
      if (value.kind == data::Value::Kind::null) continue;
      config_.pool_sources_.push_back({PoolSource::Shape::ours, name, value});
    } else if (known_sections(key).empty()) {
      return unknown_key(name, mark, key, known_sections(""));
    } else {
      TRY_STATUS(add_section(name, key, value));
    }
  }
  return {};
}

Status ConfigBuilder::add_section(const std::string& name, const std::string& path,
                                  const data::Value& section) {
  if (section.kind == data::Value::Kind::null) return {};
  if (section.kind != data::Value::Kind::map) {
    return malformed_in(name, section.mark, path + ": expected keys and values");
  }
  for (const auto& [key, mark, value] : section.entries) {
    const std::string full = path + "." + key;
    const auto* spec = find_setting(full);
    if (spec == nullptr) return unknown_key(name, mark, full, known_sections(path));
    const auto text = scalar_text(value);
    if (!text) return text.error().context(name + ": " + full);
    TRY_STATUS(set(*spec, *text, Origin::file, data::place_in(name, value.mark)));
  }
  return {};
}

Result<std::vector<NicRule>> ConfigBuilder::nic_rules(const std::string& name,
                                                      const std::string& list,
                                                      const data::Value& value) {
  if (value.kind != data::Value::Kind::list) {
    return malformed_in(name, value.mark, list + ": expected a list");
  }
  std::vector<NicRule> rules;
  for (const auto& item : value.items) {
    NicRule rule;
    rule.entry.where = data::place_in(name, item.mark);
    bool selects = false;
    bool says = false;
    for (const auto& [key, mark, word] : item.entries) {
      const auto* known = find_nic_rule_key(list, key);
      if (known == nullptr) {
        return unknown_key(name, mark, list + "." + key, known_nic_rule_keys(list));
      }
      const auto text = scalar_text(word);
      if (!text) return text.error().context(name + ": " + list + "." + key);
      rule.*(known->text) = {*text, data::place_in(name, word.mark)};
      (known->list.empty() ? selects : says) |= !text->empty();
    }
    if (!says || !selects) {
      return malformed_in(name, item.mark,
                          "an entry of " + list +
                              " needs something to select by and something to say; known here: " +
                              known_nic_rule_keys(list));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

Status ConfigBuilder::add_shared_plugin_file(const std::string& name, data::Value root) {
  const data::Value* interval = find_in_any_case(root, "periodicUpdateInterval");
  if (interval != nullptr && interval->kind != data::Value::Kind::null) {
    const auto context = data::place_in(name, interval->mark) + ": periodicUpdateInterval";
    const auto seconds = interval->as_signed();
    if (!seconds) return seconds.error().context(name + ": periodicUpdateInterval");
    if (*seconds < 0) return Error{ErrorCode::malformed, context + ": below zero"};
    if (*seconds == 0) {
      config_.warnings_.push_back(context + " 0 ignored: changes of the machine are followed");
    } else {
      const auto taken = std::min(*seconds, kMaxRescanSeconds);
      if (taken < *seconds) {
        config_.warnings_.push_back(context + " " + std::to_string(*seconds) + ": " +
                                    std::to_string(taken) + " seconds is the longest");
      }
      TRY_STATUS(set("host.rescanSeconds", std::to_string(taken), Origin::file,
                     data::place_in(name, interval->mark)));
    }
  }
  config_.pool_sources_.push_back({PoolSource::Shape::shared_plugin, name, std::move(root)});
  return {};
}

Status ConfigBuilder::add_k8s_rdma_device_plugin_file(const std::string& name,
                                                      const data::Value& root) {
  bool auto_inject = false;  // its default; a file without the key still says it
  std::string where = name;
  for (const auto& [key, mark, value] : root.entries) {
    if (!is_flat_key(key)) {
      config_.warnings_.push_back(data::place_in(name, mark) + ": unknown key " + in_quotes(key) +
                                  " ignored");
      continue;
    }
    const auto context = data::place_in(name, value.mark);
    if (key == "gpuRdmaAutoInject") {
      const auto parsed = value.as_bool();
      if (!parsed) return parsed.error().context(name + ": " + key);
      auto_inject = *parsed;
      where = context;
    } else if (key == "nriPluginName") {
      const auto text = value.as_string();
      if (!text) return text.error().context(name + ": " + key);
      TRY_STATUS(set("nri.pluginName", *text, Origin::file, context));
    } else if (key == "nriPluginIndex") {
      config_.warnings_.push_back(context +
                                  ": nriPluginIndex ignored: Railhead runs late on purpose (" +
                                  std::string(SettingRow("nri.pluginIndex")->fallback) + ")");
    } else if (key == "debug" && value.as_bool().value_or(false)) {
      TRY_STATUS(set("log.level", "debug", Origin::file, context));
    }
  }
  config_.pool_sources_.push_back({PoolSource::Shape::flat_file, name, root});
  return set("injection.gpus", gpu_policy_of(auto_inject), Origin::file, where);
}

Status ConfigBuilder::add_rdma_variables(const std::map<std::string, std::string>& environment) {
  data::Value variables;
  variables.kind = data::Value::Kind::map;
  for (const auto name : kRdmaVariables) {
    const auto at = environment.find(std::string(name));
    if (at != environment.end() && !at->second.empty()) {
      variables.entries.push_back({std::string(name), {}, text_value(at->second)});
    }
  }
  if (variables.entries.empty()) return {};
  const SettingRow gpus = "injection.gpus";
  if (const auto* said = variables.find("RDMA_GPU_AUTO_INJECT")) {
    const auto on = parse_switch(said->scalar);
    if (!on) return on.error().context("RDMA_GPU_AUTO_INJECT");
    TRY_STATUS(set(gpus, gpu_policy_of(*on), Origin::rdma_environment, "RDMA_GPU_AUTO_INJECT"));
  } else if (config_.entry(gpus).origin == Origin::fallback) {
    // Its default holds against ours, not against what a file says.
    TRY_STATUS(set(gpus, gpu_policy_of(false), Origin::rdma_environment,
                   "RDMA_GPU_AUTO_INJECT, by default"));
  }
  config_.pool_sources_.push_back(
      {PoolSource::Shape::rdma_environment, "environment", std::move(variables)});
  return {};
}

Status ConfigBuilder::add_environment(const std::map<std::string, std::string>& environment) {
  TRY_STATUS(add_rdma_variables(environment));
  for (const auto& spec : kSettings) {
    const auto at = environment.find(spec.variable());
    if (at == environment.end() || at->second.empty()) continue;
    TRY_STATUS(set(spec, at->second, Origin::environment, at->first));
  }
  return {};
}

}  // namespace railhead::config
