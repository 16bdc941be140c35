// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/device_ledger.h"
#include "agent/hand_out_files.h"
#include "agent/log.h"
#include "agent/machine.h"
#include "allocation/grant.h"
#include "host/clock.h"
#include "kubelet/device_plugin.h"
#include "metrics/registry.h"

namespace railhead {

/// One pool of the machine as a resource of the kubelet.
class PoolResource final : public kubelet::Resource {
 public:
  /// Why no container may be started now: the runtime would not ask us for its nodes.
  using Gate = std::function<Status()>;

  /// `name` is that of the pool, which later tables may lack: its list is empty then, and nothing
  /// is allocated. A gate is asked with HandOut::nri only.
  PoolResource(std::string name, HandOut hand_out, HandOutFiles& files, Gate gate, Machine& machine,
               Clock& clock, Log& log, MetricRegistry& metrics);

  [[nodiscard]] const std::string& name() const { return name_; }

  /// The list as it is to be published now; counted in railhead_pool_devices. What the
  /// configuration has taken away is not in it; what the machine has, is unhealthy for some time.
  std::vector<kubelet::Device> devices();

  /// Time alone will change the list.
  [[nodiscard]] bool waits() const { return ledger_.waits(); }

  std::vector<std::string> prefer(const kubelet::Preference& preference) override;
  Result<kubelet::Grant> allocate(const std::vector<std::string>& ids) override;
  Status pre_start(const std::vector<std::string>& ids) override;

 private:
  /// The pool's index in this table; fails where the configuration has none of this name any more.
  [[nodiscard]] Result<std::size_t> pool_in(const DecisionTable& table) const;
  Result<kubelet::Grant> grant(const std::vector<std::string>& ids);
  Status may_start(const std::vector<std::string>& ids);
  void forget_other_spec(const PoolSpec* spec);
  void count(const char* outcome);

  std::string name_;
  HandOut hand_out_;
  HandOutFiles& files_;
  Gate gate_;
  Machine& machine_;
  Clock& clock_;
  Log& log_;
  MetricRegistry& metrics_;
  DeviceLedger ledger_;
  std::optional<PoolSpec> spec_;  ///< that the ledger is of
};

}  // namespace railhead
