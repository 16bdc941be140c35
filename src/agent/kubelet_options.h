// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agent/hand_out_files.h"
#include "kubelet/registrar.h"

namespace railhead {

struct KubeletFaceOptions {
  kubelet::RegistrarOptions registrar;
  std::string pod_resources;  ///< pod-resources/kubelet.sock
  HandOut hand_out = HandOut::nri;
  HandOutFolders folders;
};

}  // namespace railhead
