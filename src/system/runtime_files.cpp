// SPDX-License-Identifier: Apache-2.0
#include "system/runtime_files.h"

#include <deque>
#include <set>

#include "base/text.h"
#include "data/below.h"
#include "data/toml.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

/// Files that import each other end by themselves; this ends a folder full of them.
constexpr std::size_t kMaxRuntimeFiles = 64;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

ConfigFile read_toml(host::Host& host, const std::string& path) {
  ConfigFile file{path, "", {path, {}, {}}};
  auto text = fact_of(path, host.read_keeping(path, kept_runtime_settings));
  file.content.error = text.error;
  if (!text.value) return file;
  file.text = *std::move(text.value);
  auto parsed = data::parse_toml(file.text);
  if (parsed) {
    file.content.value = std::move(*parsed);
  } else {
    file.content.error = "malformed: " + parsed.error().message;
  }
  return file;
}

bool is_pattern(const std::string& path) {
  return path.find('*') != std::string::npos;
}

/// One that files_named() expands as Go does.
bool is_simple(const std::string& pattern) {
  return folder_of(pattern).find_first_of("*?[\\") == std::string::npos &&
         host::base_name(pattern).find_first_of("[\\") == std::string::npos;
}

/// The files that a path or a simple pattern names.
std::vector<std::string> files_named(host::Host& host, const std::string& pattern) {
  if (!is_pattern(pattern)) return {pattern};
  const auto folder = folder_of(pattern);
  const auto last = host::base_name(pattern);
  std::vector<std::string> paths;
  const auto names = fact_of(folder, host.list(folder));
  for (const auto& name : names.value.value_or(std::vector<std::string>())) {
    if (glob_match(last, name)) paths.push_back((folder + "/").append(name));
  }
  return paths;
}

std::vector<std::string> imports_of(const ConfigFile& file) {
  const auto* imports = file.content.value ? file.content.value->find("imports") : nullptr;
  if (imports == nullptr) return {};
  auto patterns = imports->as_strings().value_or(std::vector<std::string>());
  for (auto& pattern : patterns) pattern = host::join_link(file.path, pattern);
  return patterns;
}

}  // namespace

ContainerdFiles read_containerd_files(host::Host& host, const std::string& main) {
  ContainerdFiles containerd{main, {}, {}};
  std::deque<std::string> todo = {main};
  std::set<std::string> seen;
  for (; !todo.empty() && containerd.files.size() < kMaxRuntimeFiles; todo.pop_front()) {
    if (!seen.insert(todo.front()).second) continue;
    auto file = read_toml(host, todo.front());
    for (const auto& pattern : imports_of(file)) {
      if (is_pattern(pattern) && !is_simple(pattern)) {
        containerd.unread.push_back(pattern);
        continue;
      }
      const auto last = host::base_name(pattern);
      if (last == "*.toml" || last == "*") containerd.drop_in_folders.push_back(folder_of(pattern));
      for (auto& path : files_named(host, pattern)) todo.push_back(std::move(path));
    }
    containerd.files.push_back(std::move(file));
  }
  return containerd;
}

std::string_view containerd_nri_plugin(const ContainerdFiles& all, const ConfigFile& file) {
  if (all.version() >= 2 || !file.content.value) return kNriPlugin;
  const auto has = [&](std::string_view name) {
    return data::below(*file.content.value, {"plugins", name}) != nullptr;
  };
  return has(kNriPlugin) && !has(kNriPluginBefore2) ? kNriPlugin : kNriPluginBefore2;
}

const data::Value* containerd_nri_section(const ContainerdFiles& all, const ConfigFile& file) {
  if (!file.content.value) return nullptr;
  return data::below(*file.content.value, {"plugins", containerd_nri_plugin(all, file)});
}

const data::Value* crio_nri_section(const ConfigFile& file) {
  return file.content.value ? data::below(*file.content.value, {"crio", "nri"}) : nullptr;
}

int ContainerdFiles::version() const {
  if (files.empty() || !files.front().content.value) return 1;
  const auto* found = files.front().content.value->find("version");
  return found == nullptr ? 1 : static_cast<int>(found->as_unsigned().value_or(1U));
}

std::vector<ConfigFile> read_crio_files(host::Host& host, const std::string& main,
                                        const std::string& drop_ins) {
  std::vector<ConfigFile> files = {read_toml(host, main)};
  for (const auto& path : files_named(host, drop_ins + "/*")) {
    if (files.size() == kMaxRuntimeFiles) break;
    files.push_back(read_toml(host, path));
  }
  return files;
}

}  // namespace railhead::system
