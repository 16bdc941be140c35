// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agent/hand_out_files.h"
#include "kubelet/registrar.h"

namespace railhead::agent {

/// How pools are published.
struct KubeletOptions {
  /// Its plugin folder may be empty: plugin_folder() finds it.
  kubelet::RegistrarOptions registrar;
  /// The plugin folder of a kubelet that keeps it below its root folder; "": not asked for.
  std::string folder_under_root;
  config::HandOut hand_out = config::HandOut::nri;
  HandOutFolders folders;
};

/// The plugin folder as configured, else that under the kubelet's root folder if a kubelet serves
/// there, else the kubelet's constant. Looks at files.
std::string plugin_folder(const KubeletOptions& options);

}  // namespace railhead::agent
