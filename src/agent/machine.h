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
#include "node/port_states.h"

namespace railhead {

/// The machine as the agent knows it: one DecisionTable, made again when something changed. Between
/// changes a decision touches no file at all.
class Machine {
 public:
  /// Opens the machine anew for each reading: a directory, or a snapshot file.
  using Open = std::function<Result<std::unique_ptr<Host>>()>;

  /// The operator's topology file as it is now; absent where there is none.
  using ReadTopologyFile = std::function<Result<std::optional<TextFile>>()>;

  Machine(Open open, std::unique_ptr<Watch> watch, std::vector<RoleOverride> roles,
          InjectionPolicy policy, Clock& clock, Log& log, MetricRegistry& metrics,
          ReadTopologyFile read_topology_file = {});

  /// Reads the machine, and the operator's topology file. The first reading must succeed for the
  /// agent to start. Later, a machine that cannot be read keeps the last table, and a file that
  /// cannot be used leaves what was last read from it; both are logged.
  Status read(std::string_view cause);

  /// Looks at the states of the ports alone, and reads the machine where one is another than it
  /// was. Does nothing on a machine without events: a snapshot changes as a whole.
  Status look_at_ports();

  /// Takes on other settings as a whole, with the machine as it was last read. Fails, and changes
  /// nothing, where the topology file cannot be used or two exclusive pools want the same function.
  Status reconfigure(std::vector<RoleOverride> roles, InjectionPolicy policy,
                     ReadTopologyFile read_topology_file);

  /// The current table. Looks first whether an event is pending (one system call per watched
  /// descriptor), so that a device that appeared is known to the very next container.
  std::shared_ptr<const DecisionTable> table();

  /// Puts the table's NCCL topology file where containers are given it, if it is not there. False
  /// where that fails, which is logged once.
  bool provide_topology_file(const DecisionTable& table);

  /// Descriptors for the event loop: readable means table() will read again.
  [[nodiscard]] std::vector<int> descriptors() const;

 private:
  Status read_anew(std::string_view cause);
  /// True where the file says something else than before.
  Result<bool> read_topology_file();
  /// The same at a later reading, where a failure is logged once and changes nothing.
  bool refresh_topology_file();
  void publish(const DecisionTable& table);
  void log_changes(const DecisionTable* before, const DecisionTable& now, std::string_view cause);

  Open open_;
  std::unique_ptr<Watch> watch_;
  std::vector<RoleOverride> roles_;
  InjectionPolicy policy_;
  Clock& clock_;
  Log& log_;
  MetricRegistry& metrics_;
  ReadTopologyFile read_file_;
  std::optional<TextFile> topology_file_;
  std::optional<NcclTopology> from_operator_;
  std::string topology_error_;  ///< the last one that was logged
  std::optional<TextFile> provided_;
  std::string provide_error_;  ///< the last one that was logged
  Node as_read_;  ///< what table_ is made of: the last reading, with what has moved into pods
  std::unique_ptr<Host> host_;  ///< it was read through, while there are ports to look at
  std::optional<PortStates> ports_;
  std::shared_ptr<const DecisionTable> table_;
};

}  // namespace railhead
