// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "setup/turn.h"

namespace railhead::cli {

/// `setup apply --lease`: nodes of a cluster that do not restart at the same time.
struct TurnOptions {
  std::vector<std::string> leases;  ///< "NAMESPACE/NAME"; none: no turn is waited for
  bool beside_gpu_pods = false;
};

/// --lease and --beside-gpu-pods, and the settings by which they find the API server and the
/// kubelet.
void add_turn_options(CLI::App& app, Invocation& invocation, TurnOptions& options);

/// Null without a Lease. Fails where a name is none, the node has no name, or nobody says how to
/// reach the API server. It refers to the invocation.
Result<std::unique_ptr<setup::Turn>> make_turn(const Invocation& invocation,
                                               const config::Config& config,
                                               const TurnOptions& options);

}  // namespace railhead::cli
