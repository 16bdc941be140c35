// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/grant.h"
#include "kubelet/registrar.h"

namespace railhead {

struct KubeletFaceOptions {
  kubelet::RegistrarOptions registrar;
  HandOut hand_out = HandOut::nri;
};

}  // namespace railhead
