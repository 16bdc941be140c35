// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_host.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "host/host_error.h"
#include "host/resolve.h"
#include "snapshot/hex_text.h"
#include "snapshot/socket_text.h"

namespace railhead::snapshot {
namespace {

/// Takes the first component off `path`; empty when none is left.
std::string_view take_component(std::string_view& path) {
  const std::size_t begin = path.find_first_not_of('/');
  if (begin == std::string_view::npos) {
    path = {};
    return {};
  }
  const std::size_t end = std::min(path.find('/', begin), path.size());
  const std::string_view component = path.substr(begin, end - begin);
  path.remove_prefix(end);
  return component;
}

bool only_slashes(std::string_view path) {
  return path.find_first_not_of('/') == std::string_view::npos;
}

template <typename Entry>
const Entry* as(const SnapshotEntry* entry) {
  return entry != nullptr ? std::get_if<Entry>(entry) : nullptr;
}

/// The errno of an entry that may not be searched.
std::optional<int> denied(const SnapshotEntry* entry) {
  const auto* unreadable = as<SnapshotUnreadable>(entry);
  if (unreadable == nullptr) return std::nullopt;
  const int number = unreadable->error_number;
  if (number != EACCES && number != EPERM) return std::nullopt;
  return number;
}

bool is_directory(const SnapshotEntry* entry) {
  return entry == nullptr || as<SnapshotDirectory>(entry) != nullptr ||
         as<SnapshotUnreadable>(entry) != nullptr;
}

}  // namespace

Result<std::unique_ptr<host::Host>> SnapshotHost::parse(std::string_view text) {
  Snapshot snapshot = TRY(parse_snapshot(text));
  return std::unique_ptr<host::Host>(std::make_unique<SnapshotHost>(std::move(snapshot)));
}

SnapshotHost::SnapshotHost(Snapshot snapshot)
    : snapshot_(std::move(snapshot)),
      places_(1) {
  // Entries are sorted, so most stand in the directory of the one before.
  std::string_view directory;
  Place* place = &places_.front();
  for (const auto& [path, entry] : snapshot_.entries) {
    const std::string_view whole = path;
    const std::size_t slash = whole.rfind('/');
    if (whole.substr(0, slash) != directory) {
      directory = whole.substr(0, slash);
      place = below(&places_.front(), directory);
    }
    below(place, whole.substr(slash + 1))->entry = &entry;
  }
}

SnapshotHost::Place* SnapshotHost::below(Place* place, std::string_view path) {
  for (auto name = take_component(path); !name.empty(); name = take_component(path)) {
    Place*& child = place->children[name];
    if (child == nullptr) {
      child = &places_.emplace_back();
      child->parent = place;
    }
    place = child;
  }
  return place;
}

Result<const SnapshotHost::Place*> SnapshotHost::resolve(const std::string& path,
                                                         LastLink last_link) const {
  std::string link_rest;  // what a followed link made of the rest of the path
  std::string_view rest = path;
  const Place* const root = &places_.front();
  const Place* place = path.empty() ? nullptr : root;
  int links = 0;
  while (place != nullptr && !only_slashes(rest)) {
    const std::string_view name = take_component(rest);
    if (!is_directory(place->entry)) return nullptr;
    if (name == "." || name == "..") {
      if (const auto number = denied(place->entry)) return host::host_error(path, *number);
      if (name == ".." && place->parent != nullptr) place = place->parent;
      continue;
    }
    const auto child = place->children.find(name);
    if (child == place->children.end()) {
      if (const auto number = denied(place->entry)) return host::host_error(path, *number);
      return nullptr;
    }
    const auto* link = as<SnapshotLink>(child->second->entry);
    if (link == nullptr || (last_link == LastLink::keep && only_slashes(rest))) {
      place = child->second;
      continue;
    }
    if (++links > host::kMaxLinks) return host::host_error(path, ELOOP);
    link_rest = link->target + "/" + std::string(rest);
    rest = link_rest;
    if (link->target.front() == '/') place = root;
  }
  return place;
}

Result<std::optional<std::string>> SnapshotHost::read(const std::string& path) {
  const Place* place = TRY(resolve(path, LastLink::follow));
  if (place == nullptr) return host::kAbsent;
  if (const auto* bad = as<SnapshotUnreadable>(place->entry)) {
    return host::host_error(path, bad->error_number);
  }
  const auto* file = as<SnapshotFile>(place->entry);
  if (file == nullptr) return host::kAbsent;
  return std::optional(file->content);
}

Result<std::optional<std::string>> SnapshotHost::readlink(const std::string& path) {
  const Place* place = TRY(resolve(path, LastLink::keep));
  if (place == nullptr) return host::kAbsent;
  const auto* link = as<SnapshotLink>(place->entry);
  if (link == nullptr) return host::kAbsent;
  return std::optional(link->target);
}

Result<std::optional<std::vector<std::string>>> SnapshotHost::list(const std::string& path) {
  const Place* place = TRY(resolve(path, LastLink::follow));
  if (place == nullptr || !is_directory(place->entry)) return host::kAbsent;
  if (const auto* bad = as<SnapshotUnreadable>(place->entry)) {
    return host::host_error(path, bad->error_number);
  }
  if (place->children.size() > kMaxListEntries) return host::host_error(path, EFBIG);
  std::vector<std::string> names;
  names.reserve(place->children.size());
  for (const auto& [name, child] : place->children) names.emplace_back(name);
  return std::optional(std::move(names));
}

Result<std::optional<host::LinkWalk>> SnapshotHost::walk_links(
    const std::string& path, std::size_t limit,
    const std::function<void(const std::string& target)>& take) {
  return host::walk_listed(*this, path, limit, take);
}

Result<std::optional<host::DeviceNode>> SnapshotHost::device(const std::string& path) {
  const Place* place = TRY(resolve(path, LastLink::follow));
  if (place == nullptr) return host::kAbsent;
  if (const auto* bad = as<SnapshotUnreadable>(place->entry)) {
    return host::host_error(path, bad->error_number);
  }
  const auto* node = as<host::DeviceNode>(place->entry);
  if (node == nullptr) return host::kAbsent;
  return std::optional(*node);
}

Result<std::optional<std::string>> SnapshotHost::rdma(const host::RdmaDump& dump) {
  return answer_at(host::rdma_path(dump));
}

Result<std::optional<std::vector<host::TcpSocket>>> SnapshotHost::tcp_sockets(
    const std::string& link) {
  const auto target = TRY(SnapshotHost::readlink(link));
  const auto path = target ? host::tcp_path(*target) : "";
  if (path.empty()) return host::kAbsent;
  const auto text = TRY(read(path));
  if (!text) return host::kAbsent;
  auto sockets = sockets_of_text(*text);
  if (!sockets) return host::host_error(path, EPROTO);
  return std::optional(*std::move(sockets));
}

Result<std::optional<std::string>> SnapshotHost::devlink_info(const std::string& pci_address) {
  return answer_at(host::devlink_path(pci_address));
}

Result<std::optional<std::string>> SnapshotHost::link_settings(const std::string& netdev,
                                                               host::LinkPart part) {
  return answer_at(host::link_settings_path(netdev, part));
}

Result<std::optional<std::string>> SnapshotHost::answer_at(const std::string& folder) {
  const auto pieces = TRY(list(folder));
  if (!pieces) return host::kAbsent;
  std::string answer;
  for (const auto& piece : *pieces) {
    const auto text = TRY(read(folder + "/" + piece));
    auto bytes = text ? bytes_of_hex(trim(*text)) : std::nullopt;
    if (!bytes) return host::host_error(folder + "/" + piece, EPROTO);
    answer += *bytes;
  }
  return std::optional(std::move(answer));
}

}  // namespace railhead::snapshot
