// SPDX-License-Identifier: Apache-2.0
#include "host/mounts.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/find.h"
#include "base/text.h"

namespace railhead::host {
namespace {

/// Whether `path` is the folder or below it.
bool covers(std::string_view folder, std::string_view path) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Result<std::vector<MountLine>> mounts_that_cover(std::string_view mountinfo,
                                                 std::string_view path) {
  std::vector<MountLine> mounts;
  for (const auto line : split(mountinfo, '\n')) {
    if (line.empty()) continue;
    auto mount = parse_mount_line(line);
    if (!mount) {
      return Error{ErrorCode::malformed, "mountinfo: " + in_quotes(line, 128) + " is not a mount"};
    }
    if (covers(mount->point, path)) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

/// Of the mounts on this one, that with the shortest path: the walk meets it first, and it hides
/// older mounts below it.
const MountLine* next_mount(const std::vector<MountLine>& mounts, const MountLine& at) {
  const MountLine* next = nullptr;
  for (const auto& mount : mounts) {
    if (mount.parent != at.id || &mount == &at) continue;
    if (next == nullptr || mount.point.size() < next->point.size()) next = &mount;
  }
  return next;
}

const MountLine* first_mount(const std::vector<MountLine>& mounts) {
  std::unordered_set<std::string_view> ids;
  for (const auto& mount : mounts) ids.insert(mount.id);
  return find_where(mounts, [&](const MountLine& mount) {
    return mount.point == "/" && (!ids.contains(mount.parent) || mount.parent == mount.id);
  });
}

}  // namespace

std::optional<MountLine> parse_mount_line(std::string_view line) {
  // 36 23 0:30 / /mnt/data rw,relatime … - nfs4 10.1.0.1:/ rw,vers=4.1,…
  const auto words = split_words(line);
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (dash - words.begin() < 6 || words.end() - dash < 4) return std::nullopt;
  return MountLine{
      words[0], words[1], words[2], unescaped_mount(words[3]), unescaped_mount(words[4]),
      dash[1],  dash[2],  dash[3]};
}

std::string unescaped_mount(std::string_view word) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto digits = word.substr(i).substr(1, 3);
    if (word[i] != '\\' || digits.size() < 3 ||
        !std::all_of(digits.begin(), digits.end(), is_octal)) {
      out += word[i];
      continue;
    }
    out += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    i += digits.size();
  }
  return out;
}

Result<std::optional<FilePlace>> place_of(std::string_view mountinfo, std::string_view path) {
  const auto mounts = TRY(mounts_that_cover(mountinfo, path));
  const MountLine* at = first_mount(mounts);
  if (at == nullptr) return std::optional<FilePlace>();
  // Each step leads to another mount; a list that goes in circles is not the kernel's.
  for (std::size_t steps = 0; steps < mounts.size(); ++steps) {
    const MountLine* next = next_mount(mounts, *at);
    if (next == nullptr) break;
    at = next;
  }
  const auto below = at->point == "/" ? path : path.substr(at->point.size());
  return std::optional(
      FilePlace{std::string(at->device), (at->root == "/" ? "" : at->root) + std::string(below)});
}

}  // namespace railhead::host
