// SPDX-License-Identifier: Apache-2.0
#include "config/file_shape.h"

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/text.h"

namespace railhead::config {
namespace {

/// The flat keys by which a file of k8s-rdma-device-plugin is recognised
/// (jiusanzhou/k8s-rdma-device-plugin pkg/config/config.go).
constexpr std::array<std::string_view, 8> kFlatKeys{
    "enableDevicePlugin", "resourceName",      "resourceCount", "nriPluginName",
    "nriPluginIndex",     "gpuRdmaAutoInject", "debug",         "logPath"};

}  // namespace

Result<data::Value> parse_file_text(std::string_view text, std::vector<Error>* repeated) {
  return trim(text).starts_with('{') ? data::parse_json(text, {}, repeated)
                                     : data::parse_yaml(text);
}

std::optional<PoolSource::Shape> plugin_shape(const data::Value& root) {
  if (root.kind != data::Value::Kind::map) return std::nullopt;
  if (find_in_any_case(root, "configList") != nullptr) return PoolSource::Shape::shared_plugin;
  if (find_in_any_case(root, "resourceList") != nullptr) return PoolSource::Shape::sriov_plugin;
  const bool flat =
      std::ranges::any_of(root.entries, [](const auto& entry) { return is_flat_key(entry.key); });
  return flat ? std::optional(PoolSource::Shape::flat_file) : std::nullopt;
}

bool is_flat_key(std::string_view key) {
  return contains(kFlatKeys, key);
}

const data::Value* find_in_any_case(const data::Value& root, std::string_view key) {
  const auto at = std::find_if(
      root.entries.rbegin(), root.entries.rend(),
      [&](const data::Value::Entry& entry) { return to_lower(entry.key) == to_lower(key); });
  return at != root.entries.rend() ? &at->value : nullptr;
}

}  // namespace railhead::config
