// SPDX-License-Identifier: Apache-2.0
#include "inject/cdi.h"

#include <utility>

#include "base/text.h"
#include "data/value.h"

namespace railhead {
namespace {

/// nvidia-ctk writes a few hundred values for each GPU; a real spec is far below this.
constexpr ParseLimits kCdiLimits{std::size_t{1} << 20, 16, 65536};

struct CdiDevice {
  std::string qualified_name;
  std::vector<std::string> paths;
};

/// Text of a scalar, whether or not a YAML writer has quoted it ("0" and 0 are one name).
const std::string* text_at(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && value->kind == Value::Kind::scalar && !value->scalar.empty()
             ? &value->scalar
             : nullptr;
}

Result<std::vector<std::string>> node_paths(const Value& device) {
  std::vector<std::string> out;
  const Value* edits = device.find("containerEdits");
  const Value* nodes = edits == nullptr ? nullptr : edits->find("deviceNodes");
  if (nodes == nullptr || nodes->kind == Value::Kind::null) return out;
  if (nodes->kind != Value::Kind::list) return malformed_at(nodes->mark, "deviceNodes is no list");
  for (const Value& node : nodes->items) {
    const std::string* path = text_at(node, "path");
    const std::string* host_path = text_at(node, "hostPath");
    if (path == nullptr) return malformed_at(node.mark, "a device node has no path");
    out.push_back(host_path != nullptr ? *host_path : *path);
  }
  return out;
}

Result<std::vector<CdiDevice>> parse_spec(const TextFile& file) {
  const bool json = file.path.ends_with(".json");
  const Value spec =
      TRY(json ? parse_json(file.text, kCdiLimits) : parse_yaml(file.text, kCdiLimits));
  if (spec.kind != Value::Kind::map) return malformed_at(spec.mark, "the spec is no map");
  const std::string* kind = text_at(spec, "kind");
  if (kind == nullptr || kind->find('/') == std::string::npos) {
    return malformed_at(spec.mark, "kind is not of the form vendor/class");
  }
  std::vector<CdiDevice> out;
  const Value* devices = spec.find("devices");
  if (devices == nullptr || devices->kind == Value::Kind::null) return out;
  if (devices->kind != Value::Kind::list) return malformed_at(devices->mark, "devices is no list");
  for (const Value& device : devices->items) {
    const std::string* name = text_at(device, "name");
    if (name == nullptr) return malformed_at(device.mark, "a device has no name");
    auto paths = TRY(node_paths(device));
    out.push_back({*kind + "=" + *name, std::move(paths)});
  }
  return out;
}

/// A spec in a later directory replaces one in an earlier; /var/run/cdi is the later of the two.
int priority_of(const std::string& path) {
  return path.starts_with("/etc/") ? 0 : 1;
}

struct Definition {
  std::vector<std::string> paths;
  int priority = 0;
  bool conflict = false;
};

}  // namespace

CdiRegistry CdiRegistry::from_files(const std::vector<TextFile>& files,
                                    std::vector<Problem>& problems) {
  std::unordered_map<std::string, Definition> definitions;
  for (const TextFile& file : files) {
    auto devices = parse_spec(file);
    if (!devices) {
      problems.push_back({Problem::Kind::malformed, file.path, devices.error().message});
      continue;
    }
    const int priority = priority_of(file.path);
    for (CdiDevice& device : *devices) {
      const auto [at, first] = definitions.try_emplace(device.qualified_name);
      Definition& known = at->second;
      if (first || priority > known.priority) {
        known = {std::move(device.paths), priority, false};
      } else if (priority == known.priority && known.paths != device.paths) {
        known.conflict = true;
        problems.push_back({Problem::Kind::malformed, file.path,
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

}  // namespace railhead
