// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/config_follower.h"
#include "base/result.h"
#include "config/config.h"

namespace railhead::agent {

/// Runs the node agent until SIGTERM or SIGINT and follows its configuration. Returns when
/// everything is closed; an Error means that it could not start. Where a thread waits for the
/// machine and cannot be ended, the process ends here.
Status run_agent(const config::Config& config, ConfigReader reader);

}  // namespace railhead::agent
