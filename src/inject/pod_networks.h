// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "container/remarks.h"
#include "container/request.h"

// What a pod asks of Multus, or of another plugin that reads the same annotations. Written by
// whoever may create pods. Whether it was done cannot be seen here: Multus writes its result
// (k8s.v1.cni.cncf.io/network-status) to the pod at the API server, and a runtime shows plugins the
// annotations of the time when the pod's sandbox was made (Kubernetes: generatePodSandboxConfig(),
// containerd: the sandbox's CRI configuration). A status among these is of an earlier sandbox.
namespace railhead::inject {

/// The networks of a pod beside its first. Source: Kubernetes Network Custom Resource Definition
/// De-facto Standard 1.3, 4.1.
inline constexpr std::string_view kNetworksAnnotation = "k8s.v1.cni.cncf.io/networks";
/// What takes the place of the first. Source: Multus, docs/configuration.md.
inline constexpr std::string_view kDefaultNetworkAnnotation = "v1.multus-cni.io/default-network";

/// Reads "NAME, NAMESPACE/NAME@INTERFACE" or a JSON list of {name, namespace, …} as Multus does
/// (k8sclient.go, parsePodNetworkAnnotation()): each network as "NAMESPACE/NAME", as often as it is
/// named. Empty text names none. Malformed where Multus refuses a name; too_large beyond 64 KiB,
/// eight levels or 1024 values.
Result<std::vector<std::string>> parse_networks(std::string_view text,
                                                std::string_view pod_namespace);

struct PodNetworks {
  std::vector<std::string> asked;  ///< "NAMESPACE/NAME"
  bool unreadable = false;  ///< an annotation is there that cannot be read: `remarks` say why
  container::Remarks remarks{2};
};

PodNetworks pod_networks(const container::Request& request);

}  // namespace railhead::inject
