// SPDX-License-Identifier: Apache-2.0
#include "setup/runtime_config.h"

#include <algorithm>
#include <deque>

#include "base/contains.h"
#include "base/text.h"
#include "data/toml.h"
#include "setup/units.h"

namespace railhead::setup {
namespace {

constexpr const char* kContainerd = "/etc/containerd/config.toml";
/// Files that import each other end by themselves; this ends a folder full of them.
constexpr std::size_t kMaxFiles = 256;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// "*" stands for any characters.
bool matches(std::string_view pattern, std::string_view name) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const auto rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at) {
    if (matches(rest, name.substr(at))) return true;
  }
  return false;
}

/// Absent: no such file.
Result<std::optional<RuntimeFile>> read_file(host::Host& host, const std::string& path) {
  const auto text = TRY(host.read(path));
  if (!text) return std::optional<RuntimeFile>();
  auto toml = data::parse_toml(*text);
  if (!toml) return toml.error().context(path);
  return std::optional(RuntimeFile{path, *text, *std::move(toml)});
}

std::vector<std::string> imports_of(const RuntimeFile& file) {
  const auto* found = file.toml.find("imports");
  if (found == nullptr) return {};
  auto imports = found->as_strings().value_or(std::vector<std::string>());
  for (auto& path : imports) {
    if (!path.starts_with('/')) path = folder_of(file.path) + "/" + path;
  }
  return imports;
}

}  // namespace

Result<ContainerdConfig> ContainerdConfig::read(host::Host& host, const std::string& path) {
  ContainerdConfig config;
  config.path = path;
  std::deque<std::string> pending{path};
  std::vector<std::string> seen;
  for (; !pending.empty() && seen.size() < kMaxFiles; pending.pop_front()) {
    const std::string next = pending.front();
    if (contains(seen, next)) continue;
    seen.push_back(next);
    auto file = TRY(read_file(host, next));
    if (!file) continue;
    for (const auto& import : imports_of(*file)) {
      const std::string folder = folder_of(import);
      const std::string pattern = import.substr(folder.size() + 1);
      if (pattern.find('*') == std::string::npos) {
        pending.push_back(import);
        continue;
      }
      if (pattern == "*.toml" || pattern == "*") config.drop_in_folders.push_back(folder);
      for (const auto& name : names_in(host, folder, "")) {
        if (matches(pattern, name)) pending.push_back(folder + "/" + name);
      }
    }
    config.files.push_back(*std::move(file));
  }
  return config;
}

int ContainerdConfig::version() const {
  if (files.empty() || files.front().path != path) return 1;
  const auto* found = files.front().toml.find("version");
  return found == nullptr ? 1 : static_cast<int>(found->as_unsigned().value_or(1U));
}

std::string containerd_config_path(host::Host& host) {
  const auto process = process_of(host, "containerd");
  if (!process) return kContainerd;
  const std::string command = text_of(host, "/proc/" + std::to_string(*process) + "/cmdline");
  const auto words = split(command, '\0');
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool alone = words[i] == "-c" || words[i] == "--config";
    if (alone && i + 1 < words.size() && words[i + 1].starts_with('/'))
      return std::string(words[i + 1]);
    if (words[i].starts_with("--config=/")) return std::string(words[i].substr(9));
  }
  return kContainerd;
}

Result<std::vector<RuntimeFile>> read_crio_config(host::Host& host) {
  std::vector<std::string> paths{"/etc/crio/crio.conf"};
  // CRI-O reads its folder by name, after its file (crio.conf.d(5)).
  for (const auto& name : names_in(host, "/etc/crio/crio.conf.d", ""))
    paths.push_back("/etc/crio/crio.conf.d/" + name);
  std::vector<RuntimeFile> files;
  for (const auto& path : paths) {
    auto file = TRY(read_file(host, path));
    if (file) files.push_back(*std::move(file));
  }
  return files;
}

}  // namespace railhead::setup
