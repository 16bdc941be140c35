// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/context.h"
#include "agent/device_ledger.h"
#include "agent/hand_out_files.h"
#include "agent/runtime_link.h"
#include "agent/table_feed.h"
#include "kubelet/device_plugin.h"

namespace railhead::agent {

/// One pool of the machine as a resource of the kubelet.
class PoolResource final : public kubelet::Resource {
 public:
  struct Links {
    HandOutFiles& files;
    const TableFeed& tables;
    RuntimeLink& runtime;
  };

  /// `name` is that of the pool. Where a later table lacks the pool, the list is empty and nothing
  /// is allocated. With HandOut::nri no container may start while the runtime is not connected,
  /// because nobody would give it its nodes.
  PoolResource(Context context, std::string name, config::HandOut hand_out, Links links);

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
  [[nodiscard]] Result<std::size_t> pool_in(const inject::DecisionTable& table) const;
  Result<kubelet::Grant> grant(const std::vector<std::string>& ids);
  Status may_start(const std::vector<std::string>& ids);
  void count(label::Granted outcome);
  void publish(const DeviceCounts& counts);

  Context context_;
  std::string name_;
  config::HandOut hand_out_;
  Links links_;
  DeviceLedger ledger_;
  std::optional<pools::PoolSpec> spec_;  ///< that the ledger is of
};

}  // namespace railhead::agent
