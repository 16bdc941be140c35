// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "host/clock.h"
#include "host/host.h"

namespace railhead::host {

/// Passes questions on for so long; then every answer is ETIMEDOUT, so that whoever reads on is
/// done soon and knows what is not known. A question that is on its way is not interrupted: no
/// program can end a read that the kernel does not end.
class BoundedHost final : public Host {
 public:
  BoundedHost(Host& inner, Clock& clock, std::chrono::milliseconds limit)
      : inner_(inner),
        clock_(clock),
        end_(clock.now() + limit) {}

  Result<std::optional<std::string>> read(const std::string& path) override;
  Result<std::optional<std::string>> readlink(const std::string& path) override;
  Result<std::optional<std::vector<std::string>>> list(const std::string& path) override;
  Result<std::optional<DeviceNode>> device(const std::string& path) override;
  Result<std::optional<std::string>> rdma(const RdmaDump& dump) override;
  Result<std::optional<std::string>> devlink_info(const std::string& pci_address) override;
  Result<std::optional<std::string>> link_settings(const std::string& netdev,
                                                   LinkPart part) override;

  /// How many questions were not asked any more.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  bool is_late();

  Host& inner_;
  Clock& clock_;
  std::chrono::steady_clock::time_point end_;
  std::size_t left_out_ = 0;
};

}  // namespace railhead::host
