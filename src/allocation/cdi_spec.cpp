// SPDX-License-Identifier: Apache-2.0
#include "allocation/cdi_spec.h"

#include <algorithm>
#include <utility>

#include "allocation/handed_nodes.h"
#include "base/text.h"
#include "data/json.h"

namespace railhead::allocation {
namespace {

constexpr const char* kKind = "railhead.io/resource";

/// ValidateDeviceName(): letters, digits and "_-.:", the ends a letter or a digit.
bool is_device_name(std::string_view name) {
  const auto allowed = [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == ':';
  };
  return !name.empty() && is_letter_or_digit(name.front()) && is_letter_or_digit(name.back()) &&
         std::ranges::all_of(name, allowed);
}

std::string device_name(const inject::DecisionTable& table, const pools::Pool& pool,
                        std::size_t member) {
  std::string name = pool.spec.name;
  std::ranges::replace(name, '/', ':');
  if (pools::is_fungible(pool)) return name;
  return name + ":" + table.pools().functions[pool.members[member].function].id;
}

Result<std::vector<HandedNode>> all_nodes(const inject::DecisionTable& table,
                                          const pools::Pool& pool,
                                          const std::vector<std::size_t>& members) {
  auto nodes = rdma_nodes(table, pool, members);
  for (auto& node : TRY(other_nodes(table, pool, members))) nodes.push_back(std::move(node));
  return nodes;
}

/// Members that go by one name, each such group a device.
std::vector<std::vector<std::size_t>> groups_of(const pools::Pool& pool,
                                                const std::vector<std::size_t>& members) {
  if (pools::is_fungible(pool)) return {members};
  std::vector<std::vector<std::size_t>> groups;
  for (const auto m : members) groups.push_back({m});
  return groups;
}

data::Json node_json(const HandedNode& node) {
  data::Json json{{"path", node.container_path}};
  if (node.host_path != node.container_path) json["hostPath"] = node.host_path;
  if (node.facts) {
    json["type"] = "c";
    json["major"] = node.facts->major;
    json["minor"] = node.facts->minor;
    json["fileMode"] = node.facts->mode;
    json["uid"] = node.facts->uid;
    json["gid"] = node.facts->gid;
  }
  json["permissions"] = "rw";
  return json;
}

/// requiresV050(): a host path, or a name that begins with a digit. All else is in 0.3.0.
bool needs_0_5(const std::string& name, const std::vector<HandedNode>& nodes) {
  return (name.front() >= '0' && name.front() <= '9') ||
         std::ranges::any_of(
             nodes, [](const HandedNode& node) { return node.host_path != node.container_path; });
}

}  // namespace

std::string cdi_file_name(const std::string& resource) {
  std::string name = kCdiFilePrefix + resource + ".json";
  std::ranges::replace(name, '/', '_');
  return name;
}

std::optional<std::string> cdi_spec(const inject::DecisionTable& table, const pools::Pool& pool) {
  std::vector<std::size_t> members(pool.members.size());
  for (std::size_t m = 0; m < members.size(); ++m) members[m] = m;
  data::Json devices = data::Json::array();
  bool newer = false;
  for (const auto& group : groups_of(pool, members)) {
    if (group.empty()) continue;
    const auto nodes = all_nodes(table, pool, group);
    const auto name = device_name(table, pool, group.front());
    if (!nodes || nodes->empty() || !is_device_name(name)) continue;
    newer = newer || needs_0_5(name, *nodes);
    data::Json edits = data::Json::array();
    for (const auto& node : *nodes) edits.push_back(node_json(node));
    devices.push_back(data::Json{
        {"name", name}, {"containerEdits", data::Json{{"deviceNodes", std::move(edits)}}}});
  }
  if (devices.empty()) return std::nullopt;
  return data::to_json_text(data::Json{
      {"cdiVersion", newer ? "0.5.0" : "0.3.0"}, {"kind", kKind}, {"devices", std::move(devices)}});
}

Result<std::vector<std::string>> cdi_names(const inject::DecisionTable& table,
                                           const pools::Pool& pool,
                                           const std::vector<std::size_t>& members) {
  std::vector<std::string> names;
  for (const auto& group : groups_of(pool, members)) {
    const auto nodes = TRY(all_nodes(table, pool, group));
    if (nodes.empty()) continue;
    auto name = device_name(table, pool, group.front());
    if (!is_device_name(name)) {
      return Error{ErrorCode::unsupported,
                   in_quotes(std::string_view(name)) +
                       " cannot be the name of a CDI device; "
                       "devicePlugin.handout: device-specs needs no such name"};
    }
    names.push_back(std::string(kKind) + "=" + std::move(name));
  }
  return names;
}

}  // namespace railhead::allocation
