// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agent/device_ledger.h"
#include "metrics/registry.h"

namespace railhead {

/// railhead_pool_devices of one pool: what the kubelet is told of, by state and reason.
void publish_pool_devices(MetricRegistry& metrics, const std::string& pool,
                          const DeviceCounts& counts);

}  // namespace railhead
