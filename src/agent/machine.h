// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/log.h"
#include "base/result.h"
#include "host/clock.h"
#include "host/host.h"
#include "host/watch.h"
#include "inject/decide.h"
#include "metrics/registry.h"

namespace railhead {

/// The machine as the agent knows it: one DecisionTable, made again when something changed. Between
/// changes a decision touches no file at all.
class Machine {
 public:
  /// Opens the machine anew for each reading: a directory, or a snapshot file.
  using Open = std::function<Result<std::unique_ptr<Host>>()>;

  Machine(Open open, std::unique_ptr<Watch> watch, std::vector<RoleOverride> roles,
          InjectionPolicy policy, Clock& clock, Log& log, MetricRegistry& metrics);

  /// Reads the machine. The first reading must succeed for the agent to start; a later failure
  /// keeps the last table and is logged.
  Status read(std::string_view cause);

  /// The current table. Looks first whether an event is pending (one system call per watched
  /// descriptor), so that a device that appeared is known to the very next container.
  std::shared_ptr<const DecisionTable> table();

  /// Descriptors for the event loop: readable means table() will read again.
  [[nodiscard]] std::vector<int> descriptors() const;

 private:
  void publish(const DecisionTable& table);
  void log_changes(const DecisionTable* before, const DecisionTable& now, std::string_view cause);

  Open open_;
  std::unique_ptr<Watch> watch_;
  std::vector<RoleOverride> roles_;
  InjectionPolicy policy_;
  Clock& clock_;
  Log& log_;
  MetricRegistry& metrics_;
  std::shared_ptr<const DecisionTable> table_;
};

}  // namespace railhead
