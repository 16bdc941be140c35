// SPDX-License-Identifier: Apache-2.0
#include "agent/metrics.h"

#include "inject/codes.h"

namespace railhead::agent {

Metrics::Metrics() = default;

std::vector<decltype(Metrics::nri_decisions)::Combination> Metrics::decisions() {
  std::vector<decltype(nri_decisions)::Combination> out;
  const auto add = [&](label::Outcome outcome, const auto& reasons) {
    for (const auto reason : reasons) out.emplace_back(outcome, label::Reason(reason));
  };
  add("adjusted", inject::kReasonsAdjusted);
  add("untouched", inject::kReasonsUntouched);
  add("refused", inject::kReasonsRefused);
  return out;
}

std::vector<decltype(Metrics::nri_warnings)::Combination> Metrics::remarks() {
  std::vector<decltype(nri_warnings)::Combination> out;
  for (const auto& remark : inject::kRemarkCodes) out.emplace_back(label::Code(remark.code));
  return out;
}

}  // namespace railhead::agent
