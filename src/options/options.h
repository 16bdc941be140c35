// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "affinity/affinity.h"
#include "base/result.h"
#include "checks/machine.h"
#include "config/config.h"
#include "host/host.h"
#include "host/input_file.h"
#include "inject/decide.h"
#include "metrics/http_address.h"
#include "node/node.h"
#include "pools/differences.h"
#include "pools/parse_pools.h"
#include "topology/nccl_topology.h"
#include "usage/usage.h"

namespace railhead::options {

/// Where a machine is read from: a snapshot file if one is named, else a directory tree.
struct MachineOrigin {
  std::string root = "/";
  std::string snapshot;
};

/// Opens it; the error names the directory, or the file and line.
Result<std::unique_ptr<host::Host>> open_machine(const MachineOrigin& origin);

/// The same, where a directory needs no /sys: files of a machine that somebody copied.
Result<std::unique_ptr<host::Host>> open_part_of_machine(const MachineOrigin& origin);

/// Fails with ErrorCode::usage where a topology file is named, too, which is no such machine.
Result<MachineOrigin> machine_origin(const config::Settings& settings);

/// As configured, else the host name in lower case, as the kubelet's default is; "" where that
/// cannot be read. Source: Kubernetes pkg/util/node/node.go, GetHostname().
std::string kubernetes_node_name(const config::Settings& settings);

/// The topology file that stands for the machine (host.ncclTopo); absent where none is named. Fails
/// with ErrorCode::usage where a snapshot is named, too.
Result<std::optional<topology::NcclTopology>> machine_file(const config::Settings& settings);

inject::InjectionPolicy injection_policy(const config::Settings& settings);
/// How nodes are handed out. Fails where NRI should do it while that is off.
Result<config::HandOut> hand_out(const config::Settings& settings);
/// Every resource that the configuration names, or the default one. `in_force`: those of a running
/// agent (pools::PoolParseOptions).
Result<pools::PoolSpecs> pool_specs(const config::Config& config,
                                    std::vector<pools::PoolSpec> in_force = {});
/// What the log says of pods that another plugin's file was written for.
std::vector<pools::Difference> logged_differences(const config::Config& config);
/// `roles:` and `expect:` as the affinity rule understands them; an error names file, line and
/// column.
Result<affinity::OperatorRules> operator_rules(const config::Config& config);

/// The topology file of this name (topology.file) as it is now; absent where the name is empty.
/// Fails, naming it, where it cannot be read.
Result<std::optional<node::TextFile>> read_topology_file(const std::string& path,
                                                         host::ReadFile read);

/// The same, parsed; fails, naming file and line, where it is none.
Result<std::optional<topology::NcclTopology>> operator_topology(const config::Settings& settings);

/// What the doctor goes by. Reads topology.file; fails where it cannot.
Result<checks::Wishes> doctor_wishes(const config::Config& config);

/// As pods.queuePairs says. A snapshot has no living kernel, so its lists do no harm.
usage::ListQueuePairs listed_queue_pairs(const config::Settings& settings);

/// What decisions are made by beside the machine.
struct MachineSettings {
  affinity::OperatorRules rules;
  inject::InjectionPolicy policy;
  /// The operator's topology file as it is now; absent where there is none. Null: there is none.
  std::function<Result<std::optional<node::TextFile>>()> read_topology_file;
  std::string topology_setting{};  ///< who names it, "config.yaml:3:5: topology.file"; for errors
};

/// What a configuration that can be used says of decisions and of the pages, and what it should be
/// warned of.
struct Policies {
  MachineSettings settings;
  std::optional<metrics::HttpAddress> pages;  ///< metrics.bindAddress; absent: none
  std::vector<std::string> warnings;
  std::vector<std::string> left_out;  ///< resources that cannot be used (pools::PoolSpecs)
};

/// Fails where anything keeps an agent from starting that can be known without the machine, naming
/// file, line and column. `in_force`: the pools of a running agent.
Result<Policies> agent_policies(const config::Config& config,
                                std::vector<pools::PoolSpec> in_force = {});

}  // namespace railhead::options
