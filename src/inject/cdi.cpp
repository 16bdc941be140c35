// SPDX-License-Identifier: Apache-2.0
#include "inject/cdi.h"

#include <utility>

#include "base/text.h"
#include "data/value.h"

namespace railhead::inject {
namespace {

/// nvidia-ctk writes a few hundred values for each GPU; a real spec is far below this.
constexpr data::ParseLimits kCdiLimits{std::size_t{1} << 20, 16, 65536};

struct CdiDevice {
  std::string qualified_name;
  std::vector<std::string> paths;
};

/// Text of a scalar, whether or not a YAML writer has quoted it ("0" and 0 are one name).
const std::string* text_at(const data::Value& map, std::string_view key) {
  const data::Value* value = map.find(key);
  return value != nullptr && value->kind == data::Value::Kind::scalar && !value->scalar.empty()
             ? &value->scalar
             : nullptr;
}

Result<std::vector<std::string>> node_paths(const data::Value& device) {
  std::vector<std::string> out;
  const data::Value* edits = device.find("containerEdits");
  const data::Value* nodes = edits == nullptr ? nullptr : edits->find("deviceNodes");
  if (nodes == nullptr || nodes->kind == data::Value::Kind::null) return out;
  if (nodes->kind != data::Value::Kind::list)
    return data::malformed_at(nodes->mark, "deviceNodes is no list");
  for (const data::Value& node : nodes->items) {
    const std::string* path = text_at(node, "path");
    const std::string* host_path = text_at(node, "hostPath");
    if (path == nullptr) return data::malformed_at(node.mark, "a device node has no path");
    out.push_back(host_path != nullptr ? *host_path : *path);
  }
  return out;
}

Result<std::vector<CdiDevice>> parse_spec(const node::TextFile& file) {
  const bool json = file.path.ends_with(".json");
  const data::Value spec =
      TRY(json ? data::parse_json(file.text, kCdiLimits) : data::parse_yaml(file.text, kCdiLimits));
  if (spec.kind != data::Value::Kind::map)
    return data::malformed_at(spec.mark, "the spec is no map");
  const std::string* kind = text_at(spec, "kind");
  if (kind == nullptr || kind->find('/') == std::string::npos) {
    return data::malformed_at(spec.mark, "kind is not of the form vendor/class");
  }
  std::vector<CdiDevice> out;
  const data::Value* devices = spec.find("devices");
  if (devices == nullptr || devices->kind == data::Value::Kind::null) return out;
  if (devices->kind != data::Value::Kind::list)
    return data::malformed_at(devices->mark, "devices is no list");
  for (const data::Value& device : devices->items) {
    const std::string* name = text_at(device, "name");
    if (name == nullptr) return data::malformed_at(device.mark, "a device has no name");
    auto paths = TRY(node_paths(device));
    out.push_back({*kind + "=" + *name, std::move(paths)});
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
