// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "inject/decide.h"

namespace railhead::allocation {

/// The variables that a container with these members of a pool would get from the plugin whose
/// words describe the pool; none for ours and for those of the shared plugin. `slots`: how many
/// devices were allocated.
std::map<std::string, std::string> grant_variables(const inject::DecisionTable& table,
                                                   const pools::Pool& pool,
                                                   const std::vector<std::size_t>& members,
                                                   std::size_t slots);

}  // namespace railhead::allocation
