// SPDX-License-Identifier: Apache-2.0
#include "host/host.h"

#include <string_view>

#include "base/text.h"
#include "host/host_error.h"

namespace railhead {
namespace {

void append_components(std::vector<std::string_view>& components, std::string_view path) {
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      components.push_back(part);
    } else if (!components.empty()) {
      components.pop_back();
    }
  }
}

}  // namespace

Result<std::optional<std::string>> Host::rdma(const RdmaDump& /*dump*/) {
  return kAbsent;
}

Result<std::optional<std::string>> Host::devlink_info(const std::string& /*pci_address*/) {
  return kAbsent;
}

std::string devlink_path(const std::string& pci_address) {
  return "/.netlink/devlink/pci." + pci_address;
}

std::string rdma_path(const RdmaDump& dump) {
  std::string path = "/.netlink/rdma/" + std::to_string(dump.command);
  if (dump.device) path += "." + std::to_string(*dump.device);
  return path;
}

std::string join_link(const std::string& path, const std::string& target) {
  std::vector<std::string_view> components;
  if (target.empty() || target.front() != '/') {
    append_components(components, path);
    if (!components.empty()) components.pop_back();
  }
  append_components(components, target);
  if (components.empty()) return "/";
  std::string joined;
  for (const std::string_view component : components) {
    joined += '/';
    joined += component;
  }
  return joined;
}

std::string base_name(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path.empty() ? "" : "/";
  const std::size_t slash = path.rfind('/', end);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, end + 1 - begin);
}

}  // namespace railhead
