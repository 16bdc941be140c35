// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>

#include "cluster/checks.h"

/// An API server that answers every question with the same bytes: findings with evidence.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  const railhead::cluster::Ask ask = [&](const railhead::kube::Request&,
                                         railhead::kube::AnswerLimits) {
    return railhead::Result<railhead::kube::Answer>(railhead::kube::Answer{200, body, {}});
  };
  railhead::host::SystemClock clock;
  railhead::cluster::ReadLimits limits;
  limits.pages = 2;
  const auto cluster = railhead::cluster::read_cluster("fuzz", ask, limits, clock);
  for (const auto& finding :
       railhead::cluster::run_checks(cluster, railhead::cluster::all_checks())) {
    if (finding.state != railhead::checks::State::skip && finding.evidence.empty()) {
      __builtin_trap();
    }
  }
  return 0;
}
