// SPDX-License-Identifier: Apache-2.0
#include "inject/cdi.h"

#include <utility>

#include "base/text.h"
#include "data/below.h"

namespace railhead::inject {
namespace {

/// nvidia-ctk writes a few hundred values for each GPU; a real spec is far below this.
constexpr data::ParseLimits kCdiLimits{std::size_t{1} << 20, 16, 65536};

struct CdiDevice {
  std::string qualified_name;
  std::vector<std::string> paths;
};

Result<std::vector<std::string>> node_paths(const data::Value& device) {
  std::vector<std::string> out;
  const auto* nodes = data::below(device, {"containerEdits", "deviceNodes"});
  if (nodes == nullptr) return out;
  if (nodes->kind != data::Value::Kind::list)
    return data::malformed_at(nodes->mark, "deviceNodes is not a list");
  for (const data::Value& node : nodes->items) {
    const auto path = data::text_below(node, {"path"});
    const auto host_path = data::text_below(node, {"hostPath"});
    if (path.empty()) return data::malformed_at(node.mark, "a device node has no path");
    out.emplace_back(host_path.empty() ? path : host_path);
  }
  return out;
}

Result<std::vector<CdiDevice>> parse_spec(const node::TextFile& file) {
  const bool json = file.path.ends_with(".json");
  const data::Value spec =
      TRY(json ? data::parse_json(file.text, kCdiLimits) : data::parse_yaml(file.text, kCdiLimits));
  if (spec.kind != data::Value::Kind::map)
    return data::malformed_at(spec.mark, "the spec is not a map");
  const auto kind = data::text_below(spec, {"kind"});
  if (kind.find('/') == std::string_view::npos) {
    return data::malformed_at(spec.mark, "kind is not of the form vendor/class");
  }
  std::vector<CdiDevice> out;
  const auto* devices = data::below(spec, {"devices"});
  if (devices == nullptr) return out;
  if (devices->kind != data::Value::Kind::list)
    return data::malformed_at(devices->mark, "devices is not a list");
  for (const data::Value& device : devices->items) {
    // Whether or not a YAML writer has quoted it: "0" and 0 are one name.
    const auto name = data::text_below(device, {"name"});
    if (name.empty()) return data::malformed_at(device.mark, "a device has no name");
    auto paths = TRY(node_paths(device));
    out.push_back({std::string(kind).append("=").append(name), std::move(paths)});
  }
  return out;
}

struct Definition {
  std::vector<std::string> paths;
  int priority = 0;
  bool conflict = false;
};

}  // namespace

CdiRegistry CdiRegistry::from_files(const std::vector<node::TextFile>& files,
                                    std::vector<node::Problem>& problems) {
  std::unordered_map<std::string, Definition> definitions;
  for (const node::TextFile& file : files) {
    auto devices = parse_spec(file);
    if (!devices) {
      problems.push_back({node::Problem::Kind::malformed, file.path, devices.error().message});
      continue;
    }
    // A spec in a later directory replaces one in an earlier; /var/run/cdi is the later of the two.
    const int priority = file.path.starts_with("/etc/") ? 0 : 1;
    for (CdiDevice& device : *devices) {
      const auto [at, first] = definitions.try_emplace(device.qualified_name);
      Definition& known = at->second;
      if (first || priority > known.priority) {
        known = {std::move(device.paths), priority, false};
      } else if (priority == known.priority && known.paths != device.paths) {
        known.conflict = true;
        problems.push_back({node::Problem::Kind::malformed, file.path,
                            in_quotes(device.qualified_name) + " is defined twice, differently"});
      }
    }
  }
  CdiRegistry registry;
  for (auto& [name, definition] : definitions) {
    if (!definition.conflict) registry.paths_.emplace(name, std::move(definition.paths));
  }
  return registry;
}

const std::vector<std::string>* CdiRegistry::device_paths(std::string_view qualified_name) const {
  const auto found = paths_.find(std::string(qualified_name));
  return found == paths_.end() ? nullptr : &found->second;
}

}  // namespace railhead::inject
