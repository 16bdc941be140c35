// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/hand_out_files.h"
#include "kubelet/registrar.h"

namespace railhead {

/// How pools are published.
struct KubeletOptions {
  kubelet::RegistrarOptions registrar;
  HandOut hand_out = HandOut::nri;
  HandOutFolders folders;
};

}  // namespace railhead
