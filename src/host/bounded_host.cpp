// SPDX-License-Identifier: Apache-2.0
#include "host/bounded_host.h"

#include <cerrno>

#include "host/host_error.h"

namespace railhead::host {

bool BoundedHost::is_late(const std::string& path) {
  if (now_ != nullptr) now_->set(path);
  const bool late = clock_.now() >= end_;
  if (late) ++left_out_;
  return late;
}

Result<std::optional<std::string>> BoundedHost::read(const std::string& path) {
  if (is_late(path)) return host_error(path, ETIMEDOUT);
  return inner_.read(path);
}

Result<std::optional<std::string>> BoundedHost::readlink(const std::string& path) {
  if (is_late(path)) return host_error(path, ETIMEDOUT);
  return inner_.readlink(path);
}

Result<std::optional<std::vector<std::string>>> BoundedHost::list(const std::string& path) {
  if (is_late(path)) return host_error(path, ETIMEDOUT);
  return inner_.list(path);
}

Result<std::optional<LinkWalk>> BoundedHost::walk_links(
    const std::string& path, std::size_t limit,
    const std::function<void(const std::string& target)>& take) {
  if (is_late(path)) return host_error(path, ETIMEDOUT);
  return inner_.walk_links(path, limit, take);
}

Result<std::optional<DeviceNode>> BoundedHost::device(const std::string& path) {
  if (is_late(path)) return host_error(path, ETIMEDOUT);
  return inner_.device(path);
}

Result<std::optional<std::string>> BoundedHost::rdma(const RdmaDump& dump) {
  const auto path = rdma_path(dump);
  if (is_late(path)) return host_error(path, ETIMEDOUT);
  return inner_.rdma(dump);
}

Result<std::optional<std::vector<TcpSocket>>> BoundedHost::tcp_sockets(const std::string& link) {
  if (is_late(link)) return host_error(link, ETIMEDOUT);
  return inner_.tcp_sockets(link);
}

Result<std::optional<std::string>> BoundedHost::devlink_info(const std::string& pci_address) {
  const auto path = devlink_path(pci_address);
  if (is_late(path)) return host_error(path, ETIMEDOUT);
  return inner_.devlink_info(pci_address);
}

Result<std::optional<std::string>> BoundedHost::link_settings(const std::string& netdev,
                                                              LinkPart part) {
  const auto path = link_settings_path(netdev, part);
  if (is_late(path)) return host_error(path, ETIMEDOUT);
  return inner_.link_settings(netdev, part);
}

}  // namespace railhead::host
