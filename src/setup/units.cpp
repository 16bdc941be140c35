// SPDX-License-Identifier: Apache-2.0
#include "setup/units.h"

#include <map>

#include "base/text.h"
#include "host/process.h"
#include "setup/machine.h"

namespace railhead::setup {
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
    for (const auto& name : names_in(host, drop_in_folder, ".conf"))
      files.emplace(name, drop_in_folder + "/" + name);
  }
  return files;
}

void take_limit(host::Host& host, const std::string& path, UnitLimit& limit) {
  const std::string text = text_of(host, path);
  for (const auto line : split(text, '\n')) {
    const auto assignment = trim(line);
    if (!assignment.starts_with("LimitMEMLOCK")) continue;
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || trim(assignment.substr(0, equals)) != "LimitMEMLOCK") {
      continue;
    }
    limit = {std::string(trim(assignment.substr(equals + 1))), path};
  }
}

}  // namespace

std::optional<std::string> find_unit(host::Host& host, const std::string& service) {
  for (const std::string folder : kUnitFolders) {
    std::string path = folder + "/" + service + ".service";
    const auto text = host.read(path);
    if (!text || *text) return path;
  }
  return std::nullopt;
}

UnitLimit memlock_of(host::Host& host, const std::string& service) {
  UnitLimit limit;
  if (const auto unit = find_unit(host, service)) take_limit(host, *unit, limit);
  for (const auto& [name, path] : drop_ins(host, service)) take_limit(host, path, limit);
  return limit;
}

std::optional<int> process_of(host::Host& host, const std::string& name) {
  const auto processes = host::find_processes(host, "/proc", name);
  if (!processes || processes->empty()) return std::nullopt;
  return processes->front();
}

bool has_nri_socket(host::Host& host) {
  return !names_in(host, "/run/nri", "nri.sock").empty() ||
         !names_in(host, "/var/run/nri", "nri.sock").empty();
}

}  // namespace railhead::setup
