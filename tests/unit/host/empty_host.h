// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/host.h"
#include "host/host_error.h"

namespace railhead::test {

/// A machine without any file, for those that answer one question.
class EmptyHost : public host::Host {
 public:
  Result<std::optional<std::string>> read(const std::string&) override { return host::kAbsent; }

  Result<std::optional<std::string>> readlink(const std::string&) override { return host::kAbsent; }

  Result<std::optional<std::vector<std::string>>> list(const std::string&) override {
    return host::kAbsent;
  }

  Result<std::optional<host::LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) override {
    return host::walk_listed(*this, path, limit, take);
  }

  Result<std::optional<host::DeviceNode>> device(const std::string&) override {
    return host::kAbsent;
  }

  Result<std::optional<std::string>> rdma(const host::RdmaDump&) override { return host::kAbsent; }

  Result<std::optional<std::vector<host::TcpSocket>>> tcp_sockets(const std::string&) override {
    return host::kAbsent;
  }

  Result<std::optional<std::string>> devlink_info(const std::string&) override {
    return host::kAbsent;
  }

  Result<std::optional<std::string>> link_settings(const std::string&, host::LinkPart) override {
    return host::kAbsent;
  }
};

}  // namespace railhead::test
