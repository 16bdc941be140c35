// SPDX-License-Identifier: Apache-2.0
#include "host/recording_host.h"

#include <deque>
#include <utility>

#include "base/text.h"
#include "host/host_error.h"

namespace railhead {
namespace {

constexpr int kMaxLinks = 40;

void push_front(std::deque<std::string>& todo, std::string_view path) {
  const auto parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty() && *part != ".") todo.emplace_front(*part);
  }
}

}  // namespace

const std::optional<std::string>& RecordingHost::link_at(const std::string& path) {
  const auto [at, is_new] = links_.try_emplace(path);
  if (is_new) {
    auto target = inner_.readlink(path);
    if (target && *target) at->second = std::move(**target);
    if (at->second) keep(path, SnapshotLink{*at->second});
  }
  return at->second;
}

std::optional<std::string> RecordingHost::canonical(const std::string& path, LastLink last_link) {
  std::deque<std::string> todo;
  push_front(todo, path);
  std::string at;
  for (int links = 0; !todo.empty();) {
    const std::string name = std::move(todo.front());
    todo.pop_front();
    if (name == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string here = at + "/" + name;
    const bool keep_it = todo.empty() && last_link == LastLink::keep;
    const auto& target = keep_it ? std::optional<std::string>() : link_at(here);
    if (!target) {
      at = here;
      continue;
    }
    if (++links > kMaxLinks) return std::nullopt;
    if (target->starts_with('/')) at.clear();
    push_front(todo, *target);
  }
  return at.empty() ? "/" : at;
}

void RecordingHost::keep(const std::string& path, SnapshotEntry entry) {
  auto& slot = snapshot_.entries.try_emplace(path, SnapshotName{}).first->second;
  const bool weaker = std::holds_alternative<SnapshotName>(entry) ||
                      std::holds_alternative<SnapshotDirectory>(entry);
  if (weaker && !std::holds_alternative<SnapshotName>(slot)) return;
  slot = std::move(entry);
}

void RecordingHost::keep_failure(const std::string& path, const Error& error) {
  if (const auto real = canonical(path, LastLink::follow)) {
    keep(*real, SnapshotUnreadable{errno_of(error)});
  }
}

Result<std::optional<std::string>> RecordingHost::read(const std::string& path) {
  const auto real = canonical(path, LastLink::follow);
  auto answer = inner_.read(path);
  if (!answer) {
    keep_failure(path, answer.error());
  } else if (*answer && real) {
    keep(*real, SnapshotFile{**answer});
  }
  return answer;
}

Result<std::optional<std::string>> RecordingHost::readlink(const std::string& path) {
  const auto real = canonical(path, LastLink::keep);
  auto answer = inner_.readlink(path);
  if (!answer) {
    if (real) keep(*real, SnapshotUnreadable{errno_of(answer.error())});
  } else if (*answer && real) {
    links_[*real] = **answer;
    keep(*real, SnapshotLink{**answer});
  }
  return answer;
}

Result<std::optional<std::vector<std::string>>> RecordingHost::list(const std::string& path) {
  const auto real = canonical(path, LastLink::follow);
  auto answer = inner_.list(path);
  if (!answer) {
    keep_failure(path, answer.error());
  } else if (*answer && real) {
    keep(*real, SnapshotDirectory{});
    const std::string parent = *real == "/" ? "" : *real;
    for (const auto& name : **answer) keep(parent + "/" + name, SnapshotName{});
  }
  return answer;
}

Result<std::optional<DeviceNode>> RecordingHost::device(const std::string& path) {
  const auto real = canonical(path, LastLink::follow);
  auto answer = inner_.device(path);
  if (!answer) {
    keep_failure(path, answer.error());
  } else if (*answer && real) {
    keep(*real, **answer);
  }
  return answer;
}

Snapshot RecordingHost::recorded() const {
  Snapshot snapshot = snapshot_;
  for (auto entry = snapshot.entries.begin(); entry != snapshot.entries.end(); ++entry) {
    if (!std::holds_alternative<SnapshotName>(entry->second)) continue;
    // Something below it was looked at, so it is a directory.
    const auto below = snapshot.entries.lower_bound(entry->first + "/");
    const bool is_directory =
        below != snapshot.entries.end() && below->first.starts_with(entry->first + "/");
    if (is_directory) entry->second = SnapshotDirectory{};
  }
  return snapshot;
}

}  // namespace railhead
