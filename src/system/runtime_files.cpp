// SPDX-License-Identifier: Apache-2.0
#include "system/runtime_files.h"

#include <algorithm>
#include <deque>
#include <set>

#include "base/text.h"
#include "data/toml.h"
#include "system/go_glob.h"
#include "system/kept_files.h"

namespace railhead::system {
namespace {

/// Files that import each other end by themselves; this ends a folder full of them.
constexpr std::size_t kMaxRuntimeFiles = 64;
/// A longer one is no path that the kernel takes.
constexpr std::size_t kMaxPattern = 4096;
constexpr std::size_t kMaxGlobFolders = 64;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

/// The machine's files, with some as they would be.
class Files {
 public:
  Files(host::Host& host, const ChangedFiles& changed)
      : host_(host),
        changed_(changed) {}

  [[nodiscard]] ConfigFile read(const std::string& path) const {
    ConfigFile file{path, "", {path, {}, {}}};
    const auto changed = changed_.find(path);
    auto text = changed != changed_.end()
                    ? Text{path, changed->second, ""}
                    : fact_of(path, host_.read_keeping(path, kept_runtime_settings));
    file.content.error = text.error;
    file.is_beyond_us = !text.error.empty();
    // A recording keeps that a folder is there, which a pattern of imports may name.
    if (!text.value && text.error.empty()) (void)host_.list_keeping(path, nothing);
    if (!text.value) return file;
    file.text = *std::move(text.value);
    auto parsed = data::parse_toml(file.text);
    if (parsed) {
      file.content.value = std::move(*parsed);
    } else {
      file.content.error = "malformed: " + parsed.error().message;
      file.is_beyond_us = parsed.error().code != ErrorCode::malformed;
    }
    return file;
  }

  /// A file that a command line names, of which nothing is known where its folder is not there: a
  /// container sees a part of the node's folders.
  [[nodiscard]] ConfigFile read_named(const std::string& path) const {
    auto file = read(path);
    const auto folder = folder_of(path);
    if (!file.content.absent() || list(folder.empty() ? "/" : folder).value) return file;
    file.content.error = "its folder is not there";
    file.is_beyond_us = true;
    return file;
  }

  /// Names in a folder, sorted; absent where there is no folder.
  /// A recording keeps those that are read.
  [[nodiscard]] Fact<std::vector<std::string>> list(const std::string& folder) const {
    auto names = fact_of(folder, host_.list_keeping(folder, nothing));
    if (!names.error.empty()) return names;
    std::set<std::string> all;
    if (names.value) all.insert(names.value->begin(), names.value->end());
    for (const auto& [path, text] : changed_) {
      if (folder_of(path) != folder) continue;
      const std::string name(host::base_name(path));
      if (text) all.insert(name);
      if (!text) all.erase(name);
    }
    if (names.value || !all.empty()) names.value.emplace(all.begin(), all.end());
    return names;
  }

 private:
  static bool nothing(std::string_view /*name*/) { return false; }

  host::Host& host_;
  const ChangedFiles& changed_;
};

bool is_pattern(const std::string& path) {
  return path.find('*') != std::string::npos;
}

/// The imports of a file, as absolute paths. Releases differ in what they make of one that is
/// written in another case, or twice.
std::vector<std::string> imports_of(const ConfigFile& file, ContainerdFiles& containerd) {
  std::vector<std::string> patterns;
  if (!file.content.value) return patterns;
  const auto entries = entries_in_any_case(*file.content.value, "imports");
  if (entries.empty()) return patterns;
  if (entries.size() > 1 || entries[0]->key != "imports")
    containerd.unread.push_back({file.path, entries.back()->key});
  patterns = entries.back()->value.as_strings().value_or(std::vector<std::string>());
  for (auto& pattern : patterns) pattern = host::join_link(file.path, pattern);
  return patterns;
}

/// Follows an import: the files that it names.
std::vector<std::string> files_named(const Files& files, const std::string& importer,
                                     const std::string& pattern, ContainerdFiles& containerd) {
  if (!is_pattern(pattern)) return {pattern};
  bool is_known = pattern.size() <= kMaxPattern;
  std::size_t folders = 0;
  const auto names = [&](const std::string& folder) {
    const auto found = files.list(folder);
    is_known = is_known && found.error.empty() && ++folders <= kMaxGlobFolders;
    return is_known ? found.value.value_or(std::vector<std::string>()) : std::vector<std::string>();
  };
  const auto found = is_known ? go_glob(pattern, names) : std::vector<std::string>();
  if (!found) containerd.bad_patterns.push_back({importer, pattern});
  if (!is_known) containerd.unread.push_back({importer, pattern});
  const auto last = host::base_name(pattern);
  const bool is_folder = folder_of(pattern).find_first_of("*?[\\") == std::string::npos;
  if (is_folder && (last == "*.toml" || last == "*"))
    containerd.drop_in_folders.push_back(folder_of(pattern));
  return found.value_or(std::vector<std::string>());
}

/// Adds the files below a folder, in the order of Go's filepath.Walk: by name, a folder's own where
/// it stands.
void walk(const Files& files, const std::string& folder, std::size_t depth, CrioFiles& crio) {
  const auto names = files.list(folder);
  if (!names.error.empty() || depth > 8) crio.unread.push_back({folder, names.error});
  if (!names.value || depth > 8) return;
  for (const auto& name : *names.value) {
    const auto path = (folder + "/").append(name);
    if (crio.files.size() > kMaxRuntimeFiles) {
      crio.unread.push_back({folder, "too many files"});
      return;
    }
    const auto inside = files.list(path);
    if (inside.value || !inside.error.empty()) {
      walk(files, path, depth + 1, crio);
    } else {
      crio.files.push_back(files.read(path));
    }
  }
}

}  // namespace

std::vector<const data::Value::Entry*> entries_in_any_case(const data::Value& map,
                                                           std::string_view key) {
  std::vector<const data::Value::Entry*> found;
  for (const auto& entry : map.entries) {
    if (to_lower(entry.key) == key) found.push_back(&entry);
  }
  std::ranges::stable_sort(
      found, {}, [](const auto* entry) { return std::pair(entry->mark.line, entry->mark.column); });
  return found;
}

ContainerdFiles read_containerd_files(host::Host& host, const std::string& main, bool is_named,
                                      const ChangedFiles& changed) {
  const Files files(host, changed);
  ContainerdFiles containerd{
      .path = main, .is_named = is_named, .files = {}, .drop_in_folders = {}};
  std::deque<std::string> todo = {main};
  std::set<std::string> seen;
  for (; !todo.empty(); todo.pop_front()) {
    if (!seen.insert(todo.front()).second) continue;
    if (containerd.files.size() == kMaxRuntimeFiles) {
      containerd.unread.push_back({main, todo.front()});
      break;
    }
    const bool is_named_main = is_named && containerd.files.empty();
    containerd.files.push_back(is_named_main ? files.read_named(todo.front())
                                             : files.read(todo.front()));
    const auto patterns = imports_of(containerd.files.back(), containerd);
    for (const auto& pattern : patterns) {
      for (auto& path : files_named(files, todo.front(), pattern, containerd))
        todo.push_back(std::move(path));
    }
  }
  return containerd;
}

CrioFiles::Options crio_options(const std::vector<std::string>& arguments) {
  CrioFiles::Options options;
  // urfave/cli takes one dash or two; a flag that is true or false has no word behind it.
  const auto take = [&](std::size_t at, std::string_view name, bool is_flag, std::string& into) {
    std::string_view word = arguments[at];
    if (!word.starts_with('-')) return;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    if (word == name && is_flag) {
      into = "true";
    } else if (word == name && at + 1 < arguments.size()) {
      into = arguments[at + 1];
    } else if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
      into = word.substr(name.size() + 1);
    }
  };
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    take(at, "enable-nri", true, options.enable_nri);
    take(at, "nri-listen", false, options.nri_listen);
    take(at, "nri-disable-connections", true, options.nri_disable_connections);
  }
  return options;
}

CrioFiles read_crio_files(host::Host& host, CrioFiles::Options options,
                          const ChangedFiles& changed) {
  const Files files(host, changed);
  CrioFiles crio{.options = std::move(options)};
  const auto& config = crio.options.config;
  crio.files.push_back(crio.options.is_named ? files.read_named(config) : files.read(config));
  walk(files, crio.options.folder, 0, crio);
  return crio;
}

}  // namespace railhead::system
