// SPDX-License-Identifier: Apache-2.0
#include "node/unread.h"

#include <array>
#include <span>
#include <string_view>

#include "base/contains.h"
#include "base/find.h"

namespace railhead::node {
namespace {

constexpr std::array<std::string_view, 4> kFolders = {
    "/sys/class/infiniband", "/sys/bus/pci/devices", "/sys/class/net", "/proc/driver/nvidia/gpus"};

const Problem* unread_of(const Node& node, std::span<const std::string_view> folders) {
  return find_where(node.problems, [&](const Problem& problem) {
    const std::string_view path = problem.path;
    return problem.kind == Problem::Kind::unreadable &&
           (contains(folders, path) || contains(folders, path.substr(0, path.rfind('/'))));
  });
}

}  // namespace

const Problem* unread_device(const Node& node) {
  return unread_of(node, kFolders);
}

const Problem* unread_rdma_device(const Node& node, const Nic& nic) {
  if (nic.registered || !nic.driver) return nullptr;
  return unread_of(node, std::span(kFolders).first(1));
}

const Problem* unread_nic(const Node& node) {
  return unread_of(node, std::span(kFolders).first(2));
}

void leave_devices_open(Node& node, const std::string& why) {
  for (const auto folder : kFolders)
    node.problems.push_back({Problem::Kind::unreadable, std::string(folder), why});
}

}  // namespace railhead::node
