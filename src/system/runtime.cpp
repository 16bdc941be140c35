// SPDX-License-Identifier: Apache-2.0
//
// containerd reads one file and what its `imports` name, in order; CRI-O one file and every drop-in
// by name. Later files win, key by key.
#include <algorithm>
#include <deque>
#include <set>

#include "base/text.h"
#include "data/toml.h"
#include "system/gather.h"

namespace railhead::system {
namespace {

constexpr std::size_t kMaxRuntimeFiles = 64;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

ConfigFile read_toml(const Gather& gather, const std::string& path) {
  ConfigFile file{path, {path, {}, {}}};
  const auto text = fact_of(path, gather.host.read(path));
  file.content.error = text.error;
  if (!text.value) return file;
  auto parsed = data::parse_toml(*text.value);
  if (parsed) {
    file.content.value = std::move(*parsed);
  } else {
    file.content.error = "malformed: " + parsed.error().message;
  }
  return file;
}

/// The files that a pattern names: a path whose last component may have * and ?.
std::vector<std::string> files_named(const Gather& gather, const std::string& pattern) {
  const auto folder = folder_of(pattern);
  const auto last = host::base_name(pattern);
  if (last.find_first_of("*?") == std::string::npos) return {pattern};
  std::vector<std::string> paths;
  const auto names = fact_of(folder, gather.host.list(folder));
  for (const auto& name : names.value.value_or(std::vector<std::string>())) {
    if (glob_match(last, name)) paths.push_back((folder + "/").append(name));
  }
  return paths;
}

std::vector<std::string> imports_of(const ConfigFile& file) {
  const auto* imports = file.content.value ? file.content.value->find("imports") : nullptr;
  if (imports == nullptr) return {};
  auto patterns = imports->as_strings().value_or(std::vector<std::string>());
  for (auto& pattern : patterns) {
    if (!pattern.starts_with('/')) pattern = folder_of(file.path) + "/" + pattern;
  }
  return patterns;
}

void read_containerd(const Gather& gather, const std::string& main) {
  std::deque<std::string> todo = {main};
  std::set<std::string> seen;
  while (!todo.empty() && gather.into.runtime_files.size() < kMaxRuntimeFiles) {
    const auto path = todo.front();
    todo.pop_front();
    if (!seen.insert(path).second) continue;
    auto file = read_toml(gather, path);
    for (const auto& pattern : imports_of(file)) {
      for (auto& import : files_named(gather, pattern)) todo.push_back(std::move(import));
    }
    gather.into.runtime_files.push_back(std::move(file));
  }
}

void read_crio(const Gather& gather) {
  gather.into.runtime_files.push_back(read_toml(gather, "/etc/crio/crio.conf"));
  for (const auto& path : files_named(gather, "/etc/crio/crio.conf.d/*")) {
    if (gather.into.runtime_files.size() == kMaxRuntimeFiles) break;
    gather.into.runtime_files.push_back(read_toml(gather, path));
  }
}

}  // namespace

void read_runtime(const Gather& gather) {
  // Part::services is read before: rows that ask for one of both ask for the other, too.
  const auto* containerd = gather.into.processes.find("containerd");
  const bool named = containerd != nullptr && containerd->config.starts_with('/');
  read_containerd(gather, named ? containerd->config : "/etc/containerd/config.toml");
  read_crio(gather);
  for (const auto* folder : {"/var/run/nri", "/run/nri", "/run", "/var/lib/kubelet",
                             "/var/lib/kubelet/device-plugins", "/run/containerd"}) {
    gather.folder(folder);
  }
}

}  // namespace railhead::system
