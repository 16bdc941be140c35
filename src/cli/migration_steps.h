// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "pools/pool_spec.h"

namespace railhead::cli {

/// What a person does on each node to move from these plugins, in order; docs/migration.md has the
/// same in full.
std::vector<std::string> switch_over_steps(const std::vector<pools::PoolFlavour>& from);
/// The way back.
std::vector<std::string> rollback_steps(const std::vector<pools::PoolFlavour>& to);

}  // namespace railhead::cli
