// SPDX-License-Identifier: Apache-2.0
#include "host/unit_files.h"

#include <map>
#include <utility>

namespace railhead::host {
namespace {

/// Whether the file is there.
bool take_file(Host& host, const std::string& path, Keep keep, UnitFiles& unit) {
  auto text = host.read_keeping(path, keep);
  if (!text) {
    unit.unknown.push_back(text.error().message);
    return true;
  }
  if (!*text) return false;
  unit.files.push_back({path, **std::move(text)});
  return true;
}

}  // namespace

UnitFiles read_unit_files(Host& host, const std::string& name, Keep keep) {
  UnitFiles unit;
  std::map<std::string, std::string> drop_ins;
  for (const auto folder : kUnitFolders) {
    const auto path = std::string(folder) + "/" + name;
    if (unit.path.empty() && take_file(host, path, keep, unit)) unit.path = path;
    const auto names = host.list_keeping(
        path + ".d", [](std::string_view drop_in) { return drop_in.ends_with(".conf"); });
    if (!names) unit.unknown.push_back(names.error().message);
    if (!names || !*names) continue;
    for (const auto& drop_in : **names) {
      if (drop_in.ends_with(".conf")) drop_ins.emplace(drop_in, (path + ".d/").append(drop_in));
    }
  }
  for (const auto& [drop_in, path] : drop_ins) take_file(host, path, keep, unit);
  return unit;
}

}  // namespace railhead::host
