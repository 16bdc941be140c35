// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/context.h"
#include "agent/log.h"
#include "agent/metrics.h"
#include "base/result.h"
#include "host/clock.h"
#include "host/host.h"
#include "host/watch.h"
#include "inject/decide.h"
#include "node/node_reader.h"
#include "node/port_states.h"
#include "options/options.h"

namespace railhead::agent {

/// Where a machine is read from.
struct MachineSource {
  /// Opens it anew for each reading: a directory, or a snapshot file.
  OpenMachine open;
  /// Opens what tells that something changed; null for a snapshot, which changes as a whole.
  std::function<Result<std::unique_ptr<host::Watch>>()> open_watch;
};

using options::MachineSettings;

/// The machine as the agent knows it: one DecisionTable, made again when something changed. It
/// waits for drivers, so it lives on the reader thread.
class Machine {
 public:
  /// Causes of a reading of the whole machine, and of the operator's topology file with it.
  static constexpr std::string_view kStart = "start";
  static constexpr std::string_view kTimer = "timer";
  /// Causes of a reading of what is named: by events, by a look at ports, by a container.
  static constexpr std::string_view kEvent = "event";
  static constexpr std::string_view kPort = "port";
  static constexpr std::string_view kUnknownGpu = "unknown-gpu";
  /// While events are missing, and device nodes were renumbered: the whole machine.
  static constexpr std::string_view kBlind = "no-events";

  struct Links {
    host::Clock& clock;
    Log& log;
    Metrics& metrics;
  };

  Machine(MachineSource source, MachineSettings settings, Links links);

  /// Reads what the events that were taken name, or the whole machine: at first, and as `cause`
  /// says. The first reading must succeed for the agent to start. Later, a machine that cannot be
  /// read (it has gone, or we have no descriptor left) keeps the last table and is read as a whole
  /// next time, and a file that cannot be used leaves what was last read from it; both are logged.
  Status read(std::string_view cause);

  /// The last reading failed: the table is older than the machine.
  [[nodiscard]] bool is_failing() const { return error_ != 0; }

  /// Takes the events that are pending. True where something is to be read.
  bool drain();

  /// Looks at the states of the ports alone, and reads the machine where one has
  /// changed. Does nothing on a machine without events: a snapshot changes as a whole.
  Status look_at_ports();

  /// True where a device node has changed, or nobody can say: without events its old numbers may be
  /// those of another NIC.
  bool numbers_differ();

  /// Looks at device nodes that were touched. True where one has another mode, owner or number and
  /// is to be read again.
  bool look_at_touched();

  /// Takes on other settings as a whole, with the machine as it was last read. Fails, and changes
  /// nothing, where the topology file cannot be used or two exclusive pools want the same function.
  Status reconfigure(MachineSettings settings);

  /// Null before the first reading.
  [[nodiscard]] const std::shared_ptr<const inject::DecisionTable>& table() const { return table_; }

  /// Readable while an event is pending; absent where there are no events.
  [[nodiscard]] std::optional<int> events() const;

  /// Readable while a device node was touched, see Watch::touches().
  [[nodiscard]] std::optional<int> touches() const;

  /// Tries again to see what cannot be seen. A change is logged.
  void look_for_events();

  /// Some changes bring no event; see Watch::blind().
  [[nodiscard]] bool is_blind() const { return !blind_.empty(); }

 private:
  Status read_anew(std::string_view cause);
  Result<node::Node> read_node(host::Host& host, std::string_view cause);
  /// A failure is counted, and said once until the machine can be read again.
  void note_outcome(const Status& done, std::string_view cause);
  /// True where the file says something else than before.
  Result<bool> read_topology_file();
  /// The same at a later reading, where a failure is logged once and changes nothing.
  bool refresh_topology_file(std::string_view cause);
  void take(std::shared_ptr<const inject::DecisionTable> fresh, std::string_view cause);

  MachineSource source_;
  std::unique_ptr<host::Watch> watch_;
  std::string blind_;  ///< what is not seen, as last logged
  MachineSettings settings_;
  host::Clock& clock_;
  Log& log_;
  Metrics& metrics_;
  std::optional<node::TextFile> topology_file_;
  std::optional<topology::NcclTopology> from_operator_;
  std::string topology_error_;  ///< the last one that was logged
  int error_ = 0;               ///< errno of the last reading, as it was logged
  node::NodeReader reader_;
  host::MachineChanges changes_;  ///< since the last reading
  node::Node as_read_;  ///< what table_ is made of: the last reading, with what has moved into pods
  std::unique_ptr<host::Host> host_;  ///< it was read through, while there are ports to look at
  std::optional<node::PortStates> ports_;
  std::shared_ptr<const inject::DecisionTable> table_;
};

}  // namespace railhead::agent
