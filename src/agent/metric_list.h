// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "metrics/registry.h"

namespace railhead {

/// Every metric of the agent; docs/metrics.md is compared with it by a test.
const std::vector<MetricSpec>& metric_list();

}  // namespace railhead
