// SPDX-License-Identifier: Apache-2.0
#include "agent/pool_metrics.h"

#include <array>

namespace railhead {
namespace {

constexpr const char* kMetric = "railhead_pool_devices";

struct Row {
  const char* state;
  const char* reason;  ///< nothing is healthy for a reason
  std::size_t DeviceCounts::*count;
};

constexpr std::array kRows{
    Row{"healthy", "", &DeviceCounts::healthy},
    Row{"unhealthy", "not-ready", &DeviceCounts::not_ready},
    Row{"unhealthy", "recovering", &DeviceCounts::recovering},
    Row{"unhealthy", "gone", &DeviceCounts::gone},
};

Labels labels_of(const std::string& pool, const Row& row) {
  Labels labels{{"pool", pool}, {"state", row.state}};
  if (*row.reason != '\0') labels.emplace_back("reason", row.reason);
  return labels;
}

}  // namespace

void publish_pool_devices(MetricRegistry& metrics, const std::string& pool,
                          const DeviceCounts& counts) {
  for (const auto& row : kRows) {
    metrics.set(kMetric, static_cast<double>(counts.*row.count), labels_of(pool, row));
  }
}

}  // namespace railhead
