// SPDX-License-Identifier: Apache-2.0
//
// The root folder that a DaemonSet expects the kubelet to have.
#pragma once

#include <string>
#include <vector>

#include "data/value.h"

namespace railhead::config {

/// The kubelet's own default. Source: kubernetes/kubernetes cmd/kubelet/app/options/options.go.
inline constexpr const char* kDefaultKubeletRoot = "/var/lib/kubelet";

struct KubeletRoot {
  std::string folder;  ///< "/data/kubelet"
  data::Mark mark;     ///< of the host path, or of the argument

  /// Shown by the device-plugins folder alone. Kubelets have that one below their default root,
  /// whatever their root folder is (k8s.io/kubelet pkg/apis/deviceplugin/v1beta1/constants.go), so
  /// others show more.
  bool is_by_device_plugins = false;
};

/// Root folders that host paths and arguments of the DaemonSet's containers show, in their order,
/// the default among them. A path that is not known here (`subPathExpr`, `$(NAME)`, a template's
/// braces) shows none.
std::vector<KubeletRoot> kubelet_roots(const data::Value& daemon_set);

}  // namespace railhead::config
