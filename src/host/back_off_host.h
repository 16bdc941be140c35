// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "host/clock.h"
#include "host/host.h"

namespace railhead::host {

/// Files that answered EINVAL, and until when each is left alone: an hour, and after each further
/// refusal twice as long, up to a day. A bounded number.
class Refusals {
 public:
  static constexpr std::chrono::hours kFirst{1};
  static constexpr std::chrono::hours kLongest{24};
  static constexpr std::size_t kMaxFiles = 4096;

  [[nodiscard]] bool is_resting(const std::string& path,
                                std::chrono::steady_clock::time_point now) const;
  void refused(const std::string& path, std::chrono::steady_clock::time_point now);

  void answered(const std::string& path) { rests_.erase(path); }

  /// Those below a folder, which has another device now.
  void forget_below(const std::string& folder);

 private:
  struct Rest {
    std::chrono::steady_clock::time_point until;
    std::chrono::hours length;
  };

  std::map<std::string, Rest> rests_;
};

/// Passes questions on, except for files that have refused: a restricted function writes a line
/// into the kernel's log for each such read (prometheus/node_exporter#3434), so who looks again and
/// again must not ask again and again. What rests is EINVAL, as it was.
class BackOffHost final : public Host {
 public:
  BackOffHost(Host& inner, Clock& clock, Refusals& refusals)
      : inner_(inner),
        clock_(clock),
        refusals_(refusals) {}

  Result<std::optional<std::string>> read(const std::string& path) override;

  Result<std::optional<std::string>> readlink(const std::string& path) override {
    return inner_.readlink(path);
  }

  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override {
    return inner_.list(path);
  }

  Result<std::optional<LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) override {
    return inner_.walk_links(path, limit, take);
  }

  Result<std::optional<DeviceNode>> device(const std::string& path) override {
    return inner_.device(path);
  }

  Result<std::optional<std::string>> rdma(const RdmaDump& dump) override {
    return inner_.rdma(dump);
  }

  Result<std::optional<std::vector<TcpSocket>>> tcp_sockets(const std::string& link) override {
    return inner_.tcp_sockets(link);
  }

  Result<std::optional<std::string>> devlink_info(const std::string& pci_address) override {
    return inner_.devlink_info(pci_address);
  }

  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   LinkPart part) override {
    return inner_.link_settings(netdev, part);
  }

 private:
  Host& inner_;
  Clock& clock_;
  Refusals& refusals_;
};

}  // namespace railhead::host
