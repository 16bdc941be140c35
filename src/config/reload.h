// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace railhead::config {

/// What a running agent can make of a configuration that was read again.
struct Reload {
  Config config;                     ///< to be in force: what cannot change live is as it was
  std::vector<std::string> changed;  ///< settings that take effect, and "roles"
  std::vector<std::string> restart;  ///< settings that wait for a restart, each with its place
  bool concerns_machine = false;     ///< something that takes effect changes the machine's table
};

/// Pools are compared where their meaning is known.
Reload reload_of(const Config& running, Config fresh);

}  // namespace railhead::config
