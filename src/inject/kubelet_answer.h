// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "container/holdings.h"
#include "inject/decide.h"

namespace railhead::inject {

/// What the kubelet's PodResources says of one container.
struct KubeletAnswer {
  enum class State : std::uint8_t {
    no_kubelet,  ///< there is none to ask
    answered,
    unanswered,  ///< there is one, and it gave no answer in time, or an error
  };
  State state = State::no_kubelet;
  std::vector<container::Holding> devices;  ///< of all resources; where it has answered
  bool others_hold_gpus = false;            ///< other containers of the pod do
  bool is_kept = false;                     ///< it was asked for before the container was created
};

/// What a question that failed says: there is no kubelet where nobody is behind the socket
/// (`unavailable`); every other failure is `unanswered`.
KubeletAnswer kubelet_answer_of(ErrorCode failure);

/// A pod without this container has an answer, too: an init container holds nothing that is listed.
KubeletAnswer kubelet_answer_for(std::string_view container,
                                 const Result<container::PodHoldings>& pod,
                                 const DecisionTable& table);

}  // namespace railhead::inject
