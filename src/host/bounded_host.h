// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "host/clock.h"
#include "host/hang_watch.h"
#include "host/host.h"

namespace railhead::host {

/// Passes questions on for so long; then every answer is ETIMEDOUT, so that whoever reads on is
/// done soon and knows what is not known. A question that is on its way is not interrupted: no
/// program can end a read that the kernel does not end; a HangWatch ends the process.
class BoundedHost final : public Host {
 public:
  /// `now`, where it is given, learns what is read.
  BoundedHost(Host& inner, Clock& clock, std::chrono::milliseconds limit, ReadingNow* now = nullptr)
      : inner_(inner),
        clock_(clock),
        end_(clock.now() + limit),
        now_(now) {}

  BoundedHost(std::unique_ptr<Host> inner, Clock& clock, std::chrono::milliseconds limit,
              ReadingNow* now = nullptr)
      : owned_(std::move(inner)),
        inner_(*owned_),
        clock_(clock),
        end_(clock.now() + limit),
        now_(now) {}

  Result<std::optional<std::string>> read(const std::string& path) override;
  Result<std::optional<std::string>> readlink(const std::string& path) override;
  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override;
  Result<std::optional<LinkWalk>> walk_links(
      const std::string& path, std::size_t limit,
      const std::function<void(const std::string& target)>& take) override;
  Result<std::optional<DeviceNode>> device(const std::string& path) override;
  Result<std::optional<std::string>> rdma(const RdmaDump& dump) override;
  Result<std::optional<std::vector<TcpSocket>>> tcp_sockets(const std::string& link) override;
  Result<std::optional<std::string>> devlink_info(const std::string& pci_address) override;
  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   LinkPart part) override;

  /// How many questions were not asked any more.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  bool is_late(const std::string& path);

  std::unique_ptr<Host> owned_;
  Host& inner_;
  Clock& clock_;
  std::chrono::steady_clock::time_point end_;
  ReadingNow* now_;
  std::size_t left_out_ = 0;
};

}  // namespace railhead::host
