// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/hand_out_files.h"
#include "kubelet/registrar.h"

namespace railhead {

struct KubeletFaceOptions {
  kubelet::RegistrarOptions registrar;
  HandOut hand_out = HandOut::nri;
  HandOutFolders folders;
};

}  // namespace railhead
