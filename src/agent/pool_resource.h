// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/device_ledger.h"
#include "agent/grant.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "host/clock.h"
#include "kubelet/device_plugin.h"
#include "metrics/registry.h"

namespace railhead {

/// One pool of the machine as a resource of the kubelet.
class PoolResource final : public kubelet::Resource {
 public:
  /// Why no container may be started now: the runtime would not ask us for its nodes.
  using Gate = std::function<Status()>;

  /// `pool` is an index into the table's pools, which is the same in every table. A gate is asked
  /// with HandOut::nri only.
  PoolResource(std::size_t pool, HandOut hand_out, Gate gate, Machine& machine, Clock& clock,
               Log& log, MetricRegistry& metrics);

  [[nodiscard]] const std::string& name() const { return name_; }

  /// The list as it is to be published now; counted in railhead_pool_devices.
  std::vector<kubelet::Device> devices();

  /// Time alone will change the list.
  [[nodiscard]] bool waits() const { return ledger_.waits(); }

  std::vector<std::string> prefer(const kubelet::Preference& preference) override;
  Result<kubelet::Grant> allocate(const std::vector<std::string>& ids) override;
  Status pre_start(const std::vector<std::string>& ids) override;

 private:
  Status may_start(const std::vector<std::string>& ids);
  void count(const char* outcome);

  std::size_t pool_;
  HandOut hand_out_;
  Gate gate_;
  Machine& machine_;
  Clock& clock_;
  Log& log_;
  MetricRegistry& metrics_;
  std::string name_;
  DeviceLedger ledger_;
};

}  // namespace railhead
