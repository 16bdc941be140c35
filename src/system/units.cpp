// SPDX-License-Identifier: Apache-2.0
#include "system/units.h"

#include <map>
#include <vector>

#include "base/text.h"

namespace railhead::system {
namespace {

/// systemd.unit(5), from the most to the least important; /lib is /usr/lib where both are one.
constexpr const char* kUnitFolders[] = {"/etc/systemd/system", "/run/systemd/system",
                                        "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
                                        "/lib/systemd/system"};

/// A drop-in hides those of its name in less important folders; all are read by name.
std::map<std::string, std::string> drop_ins(host::Host& host, const std::string& service) {
  std::map<std::string, std::string> files;
  for (const std::string folder : kUnitFolders) {
    const std::string drop_in_folder = folder + "/" + service + ".service.d";
    const auto names = host.list(drop_in_folder);
    if (!names || !*names) continue;
    for (const auto& name : **names) {
      if (name.ends_with(".conf")) files.emplace(name, (drop_in_folder + "/").append(name));
    }
  }
  return files;
}

void take_limit(const std::string& path, const std::string& text, Unit& unit) {
  for (const auto line : split(text, '\n')) {
    const auto assignment = trim(line);
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || trim(assignment.substr(0, equals)) != "LimitMEMLOCK")
      continue;
    unit.memlock = trim(assignment.substr(equals + 1));
    unit.memlock_path = path;
  }
}

}  // namespace

Unit read_unit(host::Host& host, const std::string& name) {
  Unit unit{name, ""};
  for (const std::string folder : kUnitFolders) {
    const std::string path = folder + "/" + name + ".service";
    const auto text = host.read(path);
    if (text && !*text) continue;
    unit.path = path;
    if (text) take_limit(path, **text, unit);
    break;
  }
  for (const auto& [file, path] : drop_ins(host, name)) {
    const auto text = host.read(path);
    if (text && *text) take_limit(path, **text, unit);
  }
  return unit;
}

}  // namespace railhead::system
