// SPDX-License-Identifier: Apache-2.0
#include "inject/kubelet_answer.h"

#include "inject/gpu_ids.h"

namespace railhead::inject {

KubeletAnswer kubelet_answer_for(std::string_view container,
                                 const Result<container::PodHoldings>& pod,
                                 const DecisionTable& table) {
  KubeletAnswer answer;
  if (!pod) {
    const bool nobody = pod.error().code == ErrorCode::unavailable;
    answer.state = nobody ? KubeletAnswer::State::no_kubelet : KubeletAnswer::State::unanswered;
    return answer;
  }
  answer.state = KubeletAnswer::State::answered;
  for (const auto& one : pod->containers) {
    if (one.container == container) {
      answer.devices = one.devices;
    } else if (gpus_in(one.devices, table).holds) {
      answer.others_hold_gpus = true;
    }
  }
  return answer;
}

}  // namespace railhead::inject
