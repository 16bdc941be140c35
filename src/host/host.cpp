// SPDX-License-Identifier: Apache-2.0
#include "host/host.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "host/host_error.h"

namespace railhead::host {
namespace {

/// Takes away the last component of a path, if it has one.
void pop_component(std::string& path) {
  const auto slash = path.rfind('/');
  path.resize(slash == std::string::npos ? 0 : slash);
}

void append_components(std::string& joined, std::string_view path) {
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      pop_component(joined);
    } else {
      joined += '/';
      joined += part;
    }
  }
}

}  // namespace

Result<std::optional<std::string>> Host::read_keeping(const std::string& path, Keep /*keep*/) {
  return read(path);
}

Result<std::optional<std::vector<std::string>>> Host::list_keeping(const std::string& path,
                                                                   KeepName /*keep*/) {
  return list(path);
}

Result<std::optional<LinkWalk>> walk_listed(
    Host& host, const std::string& path, std::size_t limit,
    const std::function<void(const std::string& target)>& take) {
  const auto names = TRY(host.list(path));
  if (!names) return kAbsent;
  LinkWalk walk{std::min(names->size(), limit), names->size() > limit, {}};
  for (std::size_t i = 0; i < walk.entries; ++i) {
    const auto target = host.readlink(path + "/" + (*names)[i]);
    if (!target) walk.failure = target.error();
    if (target && *target) take(**target);
  }
  return std::optional(std::move(walk));
}

std::string link_settings_path(const std::string& netdev, LinkPart part) {
  constexpr std::array kNames = {"rings", "coalesce", "pause", "dcb", "vfs"};
  return std::string("/.netlink/") + kNames[static_cast<std::size_t>(part)] + "/" + netdev;
}

std::string devlink_path(const std::string& pci_address) {
  return "/.netlink/devlink/pci." + pci_address;
}

std::string rdma_path(const RdmaDump& dump) {
  std::string path = "/.netlink/rdma/" + std::to_string(dump.command);
  if (dump.device) path += "." + std::to_string(*dump.device);
  return path;
}

std::string tcp_path(std::string_view link_target) {
  constexpr std::string_view kBefore = "net:[";
  if (!link_target.starts_with(kBefore) || !link_target.ends_with(']')) return "";
  const auto number = link_target.substr(kBefore.size(), link_target.size() - kBefore.size() - 1);
  if (!parse_unsigned(number)) return "";
  return "/.netlink/tcp/" + std::string(number);
}

std::string join_link(const std::string& path, const std::string& target) {
  std::string joined;
  joined.reserve(path.size() + target.size() + 1);
  if (target.empty() || target.front() != '/') {
    append_components(joined, path);
    pop_component(joined);
  }
  append_components(joined, target);
  return joined.empty() ? "/" : joined;
}

std::string base_name(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path.empty() ? "" : "/";
  const std::size_t slash = path.rfind('/', end);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, end + 1 - begin);
}

}  // namespace railhead::host
