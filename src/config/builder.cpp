// SPDX-License-Identifier: Apache-2.0
#include "config/builder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "config/file_shape.h"

namespace railhead::config {
namespace {

struct RoleKey {
  std::string_view key;
  RoleSetting::Text RoleSetting::*text;
};

/// What an entry of `roles:` may say.
constexpr std::array kRoleKeys{
    RoleKey{"name", &RoleSetting::name},     RoleKey{"pci", &RoleSetting::pci},
    RoleKey{"device", &RoleSetting::device}, RoleKey{"linkLayer", &RoleSetting::link_layer},
    RoleKey{"netdev", &RoleSetting::netdev}, RoleKey{"role", &RoleSetting::role},
};

const RoleKey* find_role_key(std::string_view key) {
  const auto* at = std::find_if(kRoleKeys.begin(), kRoleKeys.end(),
                                [&](const RoleKey& known) { return known.key == key; });
  return at == kRoleKeys.end() ? nullptr : at;
}

std::string known_role_keys() {
  std::vector<std::string> keys;
  for (const auto& known : kRoleKeys) keys.emplace_back(known.key);
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
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (path.empty()) names.insert(names.end(), {"roles", "pools"});
  return join(names, ", ");
}

data::Value text_value(const std::string& text) {
  data::Value value;
  value.kind = data::Value::Kind::scalar;
  value.scalar = text;
  return value;
}

std::string gpu_policy_of(bool auto_inject) {
  return auto_inject ? "closest" : "none";
}

}  // namespace

Status ConfigBuilder::set(SettingRow row, std::string text, Origin origin, std::string where) {
  const auto context = where + ": " + std::string(row->key);
  const auto taken = config_.take(row, {std::move(text), origin, std::move(where)});
  return taken ? taken : taken.error().context(context);
}

Status ConfigBuilder::add_file(const ConfigFile& file) {
  auto root = parse_file_text(file.text);
  if (!root) return root.error().context(file.name);
  if (root->kind == data::Value::Kind::null) return {};
  if (root->kind != data::Value::Kind::map) {
    return Error{ErrorCode::malformed,
                 data::place_in(file.name, root->mark) + ": expected keys and values"};
  }
  const auto shape = plugin_shape(*root);
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
        return Error{ErrorCode::malformed, data::place_in(name, value.mark) + ": " + key + " is " +
                                               in_quotes(*text) + ", not " + expected};
      }
    } else if (key == "roles") {
      TRY_STATUS(add_roles(name, value));
    } else if (key == "pools") {
      if (value.kind == data::Value::Kind::null) continue;
      config_.pool_sources_.push_back({PoolSource::Shape::ours, name, value});
    } else if (known_sections(key).empty()) {
      return Error{ErrorCode::malformed, data::place_in(name, mark) + ": unknown key " +
                                             in_quotes(key) +
                                             "; known here: " + known_sections("")};
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
    return Error{ErrorCode::malformed,
                 data::place_in(name, section.mark) + ": " + path + ": expected keys and values"};
  }
  for (const auto& [key, mark, value] : section.entries) {
    const std::string full = path + "." + key;
    const auto* spec = find_setting(full);
    if (spec == nullptr) {
      return Error{ErrorCode::malformed, data::place_in(name, mark) + ": unknown key " +
                                             in_quotes(full) +
                                             "; known here: " + known_sections(path)};
    }
    const auto text = scalar_text(value);
    if (!text) return text.error().context(name + ": " + full);
    TRY_STATUS(set(*spec, *text, Origin::file, data::place_in(name, value.mark)));
  }
  return {};
}

Status ConfigBuilder::add_roles(const std::string& name, const data::Value& roles) {
  if (roles.kind != data::Value::Kind::list) {
    return Error{ErrorCode::malformed,
                 data::place_in(name, roles.mark) + ": roles: expected a list"};
  }
  config_.roles_.clear();
  for (const auto& item : roles.items) {
    RoleSetting role;
    for (const auto& [key, mark, value] : item.entries) {
      const auto* field = find_role_key(key);
      if (field == nullptr) {
        return Error{ErrorCode::malformed, data::place_in(name, mark) + ": unknown key " +
                                               in_quotes("roles." + key) +
                                               "; known here: " + known_role_keys()};
      }
      const auto text = value.as_string();
      if (!text) return text.error().context(name + ": roles." + key);
      role.*(field->text) = {*text, data::place_in(name, value.mark)};
    }
    const bool selects = std::any_of(kRoleKeys.begin(), kRoleKeys.end(), [&](const RoleKey& key) {
      return key.text != &RoleSetting::role && !(role.*key.text).text.empty();
    });
    if (role.role.text.empty() || !selects) {
      return Error{ErrorCode::malformed, data::place_in(name, item.mark) +
                                             ": an entry of roles needs `role` and something to "
                                             "select by; known here: " +
                                             known_role_keys()};
    }
    config_.roles_.push_back(std::move(role));
  }
  return {};
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
