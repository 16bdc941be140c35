// SPDX-License-Identifier: Apache-2.0
#include "inject/kubelet_answer.h"

#include "inject/gpu_ids.h"

namespace railhead::inject {

KubeletAnswer kubelet_answer_of(ErrorCode failure) {
  KubeletAnswer answer;
  answer.state = failure == ErrorCode::unavailable ? KubeletAnswer::State::no_kubelet
                                                   : KubeletAnswer::State::unanswered;
  return answer;
}

KubeletAnswer kubelet_answer_for(std::string_view container,
                                 const Result<container::PodHoldings>& pod,
                                 const DecisionTable& table) {
  if (!pod) return kubelet_answer_of(pod.error().code);
  KubeletAnswer answer;
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
