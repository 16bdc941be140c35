// SPDX-License-Identifier: Apache-2.0
#include "inject/kubelet_word.h"

#include "inject/gpu_ids.h"

namespace railhead::inject {

KubeletWord word_on(std::string_view container, const Result<container::PodHoldings>& pod,
                    const DecisionTable& table) {
  KubeletWord word;
  if (!pod) {
    const bool nobody = pod.error().code == ErrorCode::unavailable;
    word.state = nobody ? KubeletWord::State::no_kubelet : KubeletWord::State::unanswered;
    return word;
  }
  word.state = KubeletWord::State::answered;
  for (const auto& one : pod->containers) {
    if (one.container == container) {
      word.devices = one.devices;
    } else if (gpus_in(one.devices, table).holds) {
      word.others_hold_gpus = true;
    }
  }
  return word;
}

}  // namespace railhead::inject
