// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "data/json.h"
#include "pools/pool_spec.h"

namespace railhead::pools {

/// The value of `pools:` of our file that makes these pools, with `replaces` for those of another
/// plugin's file. Left out is what can hold for no function: a value that no machine has, a
/// selector without any other, a pool without slots or selectors; `warnings` names each.
data::Json write_pools(const std::vector<PoolSpec>& specs, std::vector<std::string>& warnings);

}  // namespace railhead::pools
