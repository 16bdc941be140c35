// SPDX-License-Identifier: Apache-2.0
#include "snapshot/recording_host.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <utility>

#include "base/text.h"
#include "host/host_error.h"
#include "host/resolve.h"
#include "snapshot/hex_text.h"
#include "snapshot/socket_text.h"

namespace railhead::snapshot {
namespace {

/// What is known of prefixes is forgotten when it is so much: reads come directory by directory,
/// and the inner host answers again.
constexpr std::size_t kMostRemembered = 4096;
constexpr std::size_t kNetlinkPieceBytes = 16384;  // a line of it is twice as long

/// Adds the lines that are not there yet. Arguments that end with a NUL each are one line.
void add_missing(std::string& text, std::string_view more) {
  if (text.find(more) != std::string::npos) return;
  if (text.empty() || more.find('\0') != std::string_view::npos) {
    text += more;
    return;
  }
  std::set<std::string, std::less<>> known;
  for (const auto line : split(text, '\n')) known.emplace(line);
  if (!text.ends_with('\n')) text += '\n';
  for (const auto line : split(more, '\n')) {
    if (!known.contains(line)) text.append(line).append("\n");
  }
}

}  // namespace

std::optional<std::string> RecordingHost::link_at(const std::string& path, bool is_last) {
  const auto known = links_.find(path);
  if (known != links_.end()) return known->second;
  const auto answer = inner_.readlink(path);
  auto target = answer ? *answer : std::nullopt;
  if (target) keep(path, SnapshotLink{*target});
  // A path that ends here is asked for once, mostly: of a hundred thousand none is remembered.
  if (links_.size() >= kMostRemembered) links_.clear();
  if (target || !is_last) links_.emplace(path, target);
  return target;
}

std::optional<std::string> RecordingHost::canonical(const std::string& path, LastLink last_link) {
  std::deque<std::string> todo;
  host::push_front(todo, path);
  std::string at;
  passed_.clear();
  blocked_.reset();
  for (int links = 0; !todo.empty();) {
    const std::string name = std::move(todo.front());
    todo.pop_front();
    if (!may_search(at + "/")) {
      blocked_ = at.empty() ? "/" : at;
      return std::nullopt;
    }
    if (name == ".") continue;
    if (name == "..") {
      if (!at.empty()) passed_.push_back(at);
      at.resize(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    const std::string here = at + "/" + name;
    const bool keep_it = todo.empty() && last_link == LastLink::keep;
    const auto target = keep_it ? std::optional<std::string>() : link_at(here, todo.empty());
    if (!target) {
      at = here;
      continue;
    }
    if (++links > host::kMaxLinks) return std::nullopt;
    if (target->starts_with('/')) at.clear();
    host::push_front(todo, *target);
  }
  return at.empty() ? "/" : at;
}

void RecordingHost::keep(const std::string& path, SnapshotEntry entry) {
  snapshot_.entries.insert_or_assign(path, std::move(entry));
}

void RecordingHost::imply(const std::string& path, SnapshotEntry entry) {
  auto& slot = snapshot_.entries.try_emplace(path, SnapshotName{}).first->second;
  if (std::holds_alternative<SnapshotName>(slot)) slot = std::move(entry);
}

bool RecordingHost::may_search(const std::string& directory) {
  if (searchable_.size() >= kMostRemembered) searchable_.clear();
  const auto [at, is_new] = searchable_.try_emplace(directory, true);
  if (is_new) {
    const auto answer = inner_.readlink(directory + ".");
    at->second = answer || answer.error().code != ErrorCode::denied;
  }
  return at->second;
}

template <typename T, typename KeepValue>
void RecordingHost::note(const std::optional<std::string>& real,
                         const Result<std::optional<T>>& answer, KeepValue keep_value) {
  if (answer && !*answer) return;
  if (answer && real) keep_value(**answer);
  if (!answer && real) keep(*real, SnapshotUnreadable{host::errno_of(answer.error())});
  if (!answer && blocked_) imply(*blocked_, SnapshotUnreadable{host::errno_of(answer.error())});
  ways_.insert(passed_.begin(), passed_.end());
}

Result<std::optional<std::string>> RecordingHost::read(const std::string& path) {
  const auto real = canonical(path, LastLink::follow);
  auto answer = inner_.read(path);
  note(real, answer, [&](const std::string&) { imply(*real, SnapshotName{}); });
  return answer;
}

Result<std::optional<std::string>> RecordingHost::read_keeping(const std::string& path,
                                                               host::Keep need) {
  const auto real = canonical(path, LastLink::follow);
  auto answer = inner_.read(path);
  note(real, answer, [&](const std::string& text) { keep_of(*real, path, text, need); });
  return answer;
}

void RecordingHost::keep_of(const std::string& path, const std::string& asked,
                            const std::string& content, host::Keep need) {
  // The key of the entry, which stays where it is, is the key here, too.
  const auto entry = snapshot_.entries.try_emplace(path, SnapshotName{}).first;
  auto& read = reads_[entry->first];
  if (read.needs.empty()) read.asked = asked == path ? "" : asked;
  const auto* file = std::get_if<SnapshotFile>(&entry->second);
  auto mine = std::ranges::find(read.needs, need, &std::pair<host::Keep, std::string>::first);
  if (mine == read.needs.end()) {
    // What the only reader needs is the entry's text, and is not kept twice.
    if (read.needs.size() == 1 && file != nullptr) read.needs.front().second = file->content;
    mine = read.needs.insert(mine, {need, ""});
  }
  std::string text = need(content);
  if (read.needs.size() > 1) {
    mine->second = std::move(text);
    text.clear();
    for (const auto& one : read.needs) add_missing(text, one.second);
  }
  if (!text.empty() || content.empty()) {
    nothing_.erase(path);
    entry->second = SnapshotFile{std::move(text)};
  } else {
    nothing_.insert(path);
    entry->second = SnapshotName{};
  }
}

std::map<std::string, std::string, std::less<>> RecordingHost::asked() const {
  std::map<std::string, std::string, std::less<>> all;
  for (const auto& [path, read] : reads_) {
    if (!read.asked.empty()) all.emplace(path, read.asked);
  }
  return all;
}

Result<std::optional<std::string>> RecordingHost::readlink(const std::string& path) {
  const auto real = canonical(path, LastLink::keep);
  auto answer = inner_.readlink(path);
  note(real, answer, [&](const std::string& target) {
    links_[*real] = target;
    keep(*real, SnapshotLink{target});
  });
  return answer;
}

Result<std::optional<std::vector<std::string>>> RecordingHost::list(const std::string& path) {
  return list_keeping(path, [](std::string_view) { return true; });
}

Result<std::optional<std::vector<std::string>>> RecordingHost::list_keeping(
    const std::string& path, host::KeepName keep_name) {
  const auto real = canonical(path, LastLink::follow);
  auto answer = inner_.list(path);
  note(real, answer, [&](const std::vector<std::string>& names) {
    keep(*real, SnapshotDirectory{});
    const std::string parent = *real == "/" ? "" : *real;
    for (const auto& name : names) {
      if (keep_name(name)) imply(parent + "/" + name, SnapshotName{});
    }
  });
  return answer;
}

Result<std::optional<host::LinkWalk>> RecordingHost::walk_links(
    const std::string& path, std::size_t limit,
    const std::function<void(const std::string& target)>& take) {
  return host::walk_listed(*this, path, limit, take);
}

Result<std::optional<host::DeviceNode>> RecordingHost::device(const std::string& path) {
  const auto real = canonical(path, LastLink::follow);
  auto answer = inner_.device(path);
  note(real, answer, [&](const host::DeviceNode& node) { keep(*real, node); });
  return answer;
}

Result<std::optional<std::string>> RecordingHost::rdma(const host::RdmaDump& dump) {
  auto answer = inner_.rdma(dump);
  keep_answer(host::rdma_path(dump), answer);
  return answer;
}

Result<std::optional<std::vector<host::TcpSocket>>> RecordingHost::tcp_sockets(
    const std::string& link) {
  auto answer = inner_.tcp_sockets(link);
  const auto target = RecordingHost::readlink(link);
  const auto path = target && *target ? host::tcp_path(**target) : "";
  if (path.empty()) return answer;
  if (!answer) keep(path, SnapshotUnreadable{host::errno_of(answer.error())});
  if (!answer || !*answer) return answer;
  auto text = text_of_sockets(**answer);
  if (text.size() > kMaxFileBytes) {
    keep(path, SnapshotUnreadable{EFBIG});
  } else {
    keep(path, SnapshotFile{std::move(text)});
  }
  return answer;
}

Result<std::optional<std::string>> RecordingHost::devlink_info(const std::string& pci_address) {
  auto answer = inner_.devlink_info(pci_address);
  keep_answer(host::devlink_path(pci_address), answer);
  return answer;
}

Result<std::optional<std::string>> RecordingHost::link_settings(const std::string& netdev,
                                                                host::LinkPart part) {
  auto answer = inner_.link_settings(netdev, part);
  keep_answer(host::link_settings_path(netdev, part), answer);
  return answer;
}

void RecordingHost::keep_answer(const std::string& folder,
                                const Result<std::optional<std::string>>& answer) {
  const int failed = answer ? 0 : host::errno_of(answer.error());
  if (failed != 0 && !host::means_absent(failed)) keep(folder, SnapshotUnreadable{failed});
  if (!answer || !*answer) return;
  keep(folder, SnapshotDirectory{});
  const std::string_view bytes = **answer;
  for (std::size_t at = 0; at < bytes.size(); at += kNetlinkPieceBytes) {
    auto number = std::to_string(at / kNetlinkPieceBytes);
    number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');  // pieces sort by name
    keep(folder + "/" + number,
         SnapshotFile{hex_of_bytes(bytes.substr(at, kNetlinkPieceBytes)) + "\n"});
  }
}

Snapshot RecordingHost::finished(Snapshot snapshot) const {
  for (const auto& path : nothing_) snapshot.entries.erase(path);
  const auto has_below = [&](const std::string& path) {
    const std::string prefix = path == "/" ? path : path + "/";
    const auto below = snapshot.entries.upper_bound(prefix);
    return below != snapshot.entries.end() && below->first.starts_with(prefix);
  };
  for (auto& [path, entry] : snapshot.entries) {
    const bool may_have_below = std::holds_alternative<SnapshotDirectory>(entry) ||
                                std::holds_alternative<SnapshotUnreadable>(entry);
    // Something below it was looked at, so it is a directory, or became one while we read.
    if (!may_have_below && has_below(path)) entry = SnapshotDirectory{};
  }
  for (const auto& path : ways_) {
    const auto [at, is_new] = snapshot.entries.try_emplace(path, SnapshotName{});
    if (!std::holds_alternative<SnapshotName>(at->second)) continue;
    at->second = SnapshotDirectory{};
    if (is_new && !nothing_.contains(path) && has_below(path)) snapshot.entries.erase(path);
  }
  return snapshot;
}

Snapshot RecordingHost::recorded() const& {
  return finished(snapshot_);
}

Snapshot RecordingHost::recorded() && {
  links_.clear();
  searchable_.clear();
  reads_.clear();
  return finished(std::move(snapshot_));
}

}  // namespace railhead::snapshot
